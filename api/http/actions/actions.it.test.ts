// An action ends once, wherever it is left: by its caller's repeat, by the worker, and never by one who lost it meanwhile.

import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { emit } from '../../outbox.ts'
import { type ApiHarness, startOwnApi } from '../../testing/harness.ts'
import { openWorker, type TestWorker } from '../../testing/worker.ts'
import type { Reservation } from '../idempotency/idempotency.ts'
import { type ActionDeps, defineAction, runAction } from './action.ts'
import { actionJobs } from './finish-actions.ts'

let api: ApiHarness
let worker: TestWorker
/** What was done outside, by intent: an outside world that knows what it has done already. */
let outside: Map<string, number>
let calls: number
let fails: Error | null

const payAction = defineAction<ActionDeps, { readonly amount: string }, string>({
  name: 'pay',
  status: 201,
  response: Type.Object({ paid: Type.String() }),
  act: async (_deps, _who, { id, data }) => {
    calls += 1
    if (fails) throw fails
    outside.set(id, Number(data.amount))
    return data.amount
  },
  settle: async (uow: Uow, { id }, amount) => {
    await emit(uow, { type: 'INVOICE.PAID', objectId: id, data: { id }, previous: null })
    return { paid: amount }
  },
})

beforeAll(async () => {
  api = await startOwnApi()
  worker = await openWorker(api, 4)
})
afterAll(async () => {
  await worker.close()
  await api.close()
})
beforeEach(async () => {
  await api.sql('delete from action_intents')
  outside = new Map()
  calls = 0
  fails = null
})

const reservation = (key: string | null, requestHash = 'a'): Reservation => ({
  method: 'POST',
  path: '/v1/pay',
  key,
  requestHash,
})
const pay = (of: Reservation, failpoint?: ActionDeps['failpoint']) =>
  runAction(
    { database: api.database, failpoint },
    {
      tenant: api.tenants.aLive.tenant,
      actor: { id: 'user_1', requestId: 'reqr_1', may: () => true },
      reservation: of,
    },
    payAction,
    async () => ({ amount: '5' }),
  )
const jobs = actionJobs([payAction])
/** What the worker does when it looks: finds, and finishes what it found. */
async function workerLooks(): Promise<void> {
  await worker.run(jobs, 'find-unfinished-actions')
}
/** As if a pause of the worker were over. */
const endPauses = () => api.sql('update action_intents set retry_at = null')
/** As if every action had been begun that long ago. */
const age = (interval: string) =>
  api.sql('update action_intents set created_at = clock_timestamp() - $1::interval', [interval])
const measured = async () => {
  const { metrics } = worker.deps
  const [failed, oldest] = await Promise.all([metrics.actionsFailed.get(), metrics.actionsAge.get()])
  return { failed: failed.values[0]?.value, oldest: oldest.values[0]?.value ?? 0 }
}
const endLeases = () => api.sql(`update action_intents set leased_until = now() - interval '1 second'`)
const left = async () => (await api.sql('select 1 from action_intents')).length
const paid = () =>
  api.sql(`select actor_id, request_id from outbox where type = 'INVOICE.PAID' and object_id = any($1)`, [
    [...outside.keys()],
  ])

/** Stops at `point` as a process that is killed does: it never returns, until it is woken. */
function stopAt(point: string): { failpoint: ActionDeps['failpoint']; reached: Promise<void>; wake: () => void } {
  let wake = (): void => undefined
  let reach = (): void => undefined
  const reached = new Promise<void>(resolve => {
    reach = resolve
  })
  const asleep = new Promise<void>(resolve => {
    wake = resolve
  })
  const failpoint = (name: string) => {
    if (name !== point) return undefined
    reach()
    return asleep
  }
  return { failpoint, reached, wake: () => wake() }
}

test('acts, settles, answers, and leaves nothing behind', async () => {
  const answer = await pay(reservation('plain'))
  expect(answer).toEqual({ status: 201, body: '{"paid":"5"}', replayed: false })
  expect(await pay(reservation('plain'))).toEqual({ ...answer, replayed: true })
  await expect(pay(reservation('plain', 'b'))).rejects.toMatchObject({ code: 'IDEMPOTENCY_CHECK_FAILED' })
  expect([calls, outside.size, await left()]).toEqual([1, 1, 0])
})

test.each(['action.after-begin', 'action.after-act', 'action.before-settled'])(
  'one that stops at %s is finished by the worker, and its caller, who wakes up, has lost it',
  async point => {
    const stop = stopAt(point)
    const sleeper = pay(reservation(`key ${point}`), stop.failpoint)
    await stop.reached
    await expect(pay(reservation(`key ${point}`))).rejects.toMatchObject({
      code: 'IDEMPOTENCY_KEY_IN_USE',
      details: { retryAfterSeconds: 1 },
    })
    await expect(pay(reservation(`key ${point}`, 'b'))).rejects.toMatchObject({
      code: expect.stringMatching(/^IDEMPOTENCY_(CHECK_FAILED|KEY_IN_USE)$/),
    })
    await workerLooks()
    expect(await paid()).toHaveLength(0)
    if (point === 'action.before-settled') {
      // It holds the row: the worker waits for the end of its transaction, and finds nothing left.
      stop.wake()
      expect(await sleeper).toMatchObject({ replayed: false })
      await endLeases()
      await workerLooks()
    } else {
      await endLeases()
      await workerLooks()
      stop.wake()
      expect(await sleeper).toEqual({ status: 201, body: '{"paid":"5"}', replayed: true })
    }
    expect(await pay(reservation(`key ${point}`))).toMatchObject({ body: '{"paid":"5"}', replayed: true })
    expect([outside.size, await left()]).toEqual([1, 0])
    // The notice names who began it, even where the worker finishes it.
    expect(await paid()).toEqual([{ actor_id: 'user_1', request_id: 'reqr_1' }])
  },
)

test.each(['action.after-begin', 'action.after-act'])(
  'a repeat of the call takes on what stopped at %s',
  async point => {
    const stop = stopAt(point)
    const sleeper = pay(reservation(`again ${point}`), stop.failpoint)
    await stop.reached
    await endLeases()
    expect(await pay(reservation(`again ${point}`))).toMatchObject({ body: '{"paid":"5"}', replayed: false })
    stop.wake()
    expect(await sleeper).toMatchObject({ replayed: true })
    expect([outside.size, (await paid()).length, await left()]).toEqual([1, 1, 0])
  },
)

test('a refusal ends it, and the request may be corrected under the same key', async () => {
  fails = new AppError('INVALID_OPERATION', 'no')
  await expect(pay(reservation('refused'))).rejects.toThrow('no')
  expect(await left()).toBe(0)
  fails = null
  expect(await pay(reservation('refused', 'b'))).toMatchObject({ replayed: false })
})

test('a fault leaves it to the worker, which tries again until it is done', async () => {
  fails = new Error('the other side is away')
  await expect(pay(reservation(null))).rejects.toThrow('away')
  expect(await left()).toBe(1)
  await endPauses()
  await workerLooks()
  fails = null
  await endPauses()
  await workerLooks()
  await workerLooks()
  expect([calls, outside.size, (await paid()).length, await left()]).toEqual([3, 1, 1, 0])
})

test('the worker waits longer after each fault, up to an hour, while a repeat of the call need not wait', async () => {
  fails = new AppError('SERVICE_UNAVAILABLE', 'away')
  await expect(pay(reservation('pauses'))).rejects.toThrow('away')
  const pauses: number[] = []
  for (let turn = 0; turn < 9; turn += 1) {
    const [row] = await api.sql(
      'select round(extract(epoch from retry_at - leased_until))::int as pause from action_intents',
    )
    pauses.push(row?.['pause'])
    await workerLooks()
    expect(calls).toBe(turn + 1)
    await endPauses()
    await workerLooks()
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
  await age('23 hours')
  await workerLooks()
  expect(await measured()).toEqual({ failed: 0, oldest: expect.closeTo(23 * 3_600, -2) })
  fails = null
  expect(await pay(reservation('pauses'))).toMatchObject({ body: '{"paid":"5"}', replayed: false })
  await workerLooks()
  expect(await measured()).toEqual({ failed: 0, oldest: 0 })
})

/** The final answer of a key whose action was given up. */
const GIVEN_UP = {
  status: 409,
  body: expect.stringMatching(/"COULD_NOT_UPDATE_RESOURCE".*within 24 hours.*SERVICE_UNAVAILABLE.*new Idempotency-Key/),
  replayed: true,
}

test.each(['the worker', 'a repeat of the call'])(
  'a fault after a day ends it, met by %s: FAILED, with the refusal as the answer of its key',
  async who => {
    const key = `given up by ${who}`
    fails = new AppError('SERVICE_UNAVAILABLE', 'away')
    await expect(pay(reservation(key))).rejects.toThrow('away')
    await age('25 hours')
    await endPauses()
    if (who === 'the worker') await workerLooks()
    else await expect(pay(reservation(key))).rejects.toThrow('away')
    fails = null
    await endLeases()
    await workerLooks()
    expect(await measured()).toEqual({ failed: 1, oldest: 0 })
    expect([await pay(reservation(key)), await pay(reservation(key))]).toEqual([GIVEN_UP, GIVEN_UP])
    await expect(pay(reservation(key, 'b'))).rejects.toMatchObject({ code: 'IDEMPOTENCY_CHECK_FAILED' })
    expect([calls, outside.size]).toEqual([2, 0])
    expect(await api.sql('select action, fault, key, failed_at is not null as failed from action_intents')).toEqual([
      { action: 'pay', fault: 'SERVICE_UNAVAILABLE', key: null, failed: true },
    ])
    // The answer of a key is kept for 48 hours; then the key is free, whatever became of the row.
    await api.sql('delete from idempotency_keys where key = $1', [key])
    expect(await pay(reservation(key))).toMatchObject({ status: 201, replayed: false })
  },
)

test('after a day one that succeeds is settled all the same, and one without a key is given up as well', async () => {
  fails = new Error('away')
  await expect(pay(reservation('late'))).rejects.toThrow('away')
  await expect(pay(reservation(null))).rejects.toThrow('away')
  await age('3 days')
  await endPauses()
  const [late] = await api.sql(`select id from action_intents where key = 'late'`)
  await api.sql('update action_intents set retry_at = now() + interval $$1 hour$$ where key is not null')
  await workerLooks()
  fails = null
  await endPauses()
  await workerLooks()
  expect([...outside.keys()]).toEqual([late?.['id']])
  expect(await pay(reservation('late'))).toMatchObject({ status: 201, replayed: true })
  expect(await api.sql('select fault from action_intents')).toEqual([{ fault: 'INTERNAL_ERROR' }])
})

test('one that another has taken on meanwhile is not given up, and what that one does counts', async () => {
  fails = new Error('away')
  await expect(pay(reservation('taken'))).rejects.toThrow('away')
  await age('25 hours')
  const stop = stopAt('action.after-begin')
  const sleeper = pay(reservation('taken'), stop.failpoint)
  await stop.reached
  await endLeases()
  await endPauses()
  fails = null
  await workerLooks()
  fails = new Error('away')
  stop.wake()
  await expect(sleeper).rejects.toThrow('away')
  expect(await pay(reservation('taken'))).toMatchObject({ status: 201, replayed: true })
  expect(await left()).toBe(0)
})

test('an action that no version knows, or that ends the process each time, is given up without being tried', async () => {
  fails = new Error('away')
  await expect(pay(reservation('unknown'))).rejects.toThrow('away')
  await expect(pay(reservation('deadly'))).rejects.toThrow('away')
  fails = null
  await age('25 hours')
  await endPauses()
  await api.sql(`update action_intents set action = 'of-a-later-version' where key = 'unknown'`)
  await api.sql(`update action_intents set attempts = 50 where key = 'deadly'`)
  await workerLooks()
  await workerLooks()
  expect([calls, await measured()]).toEqual([2, { failed: 2, oldest: 0 }])
  expect(await pay(reservation('unknown'))).toMatchObject({ status: 409 })
})

test('FAILED rows go after ninety days, and reservations of calls that nobody repeated after two', async () => {
  const own = { tenant: api.tenants.aLive.tenant, actor: { id: null, requestId: null } }
  const search = { ...payAction, name: null }
  const stop = stopAt('action.after-begin')
  const lost = runAction(
    { database: api.database, failpoint: stop.failpoint },
    { ...own, reservation: reservation('search') },
    search,
    async () => ({ amount: '1' }),
  )
  await stop.reached
  fails = new Error('away')
  await expect(pay(reservation(null))).rejects.toThrow('away')
  await age('25 hours')
  await endPauses()
  await workerLooks()
  await worker.run(jobs, 'expire-actions')
  expect(await left()).toBe(2)
  await api.sql(`update action_intents set leased_until = now() - interval '49 hours'`)
  await api.sql(`update action_intents set failed_at = now() - interval '89 days' where failed_at is not null`)
  await worker.run(jobs, 'expire-actions')
  expect(await left()).toBe(1)
  await api.sql(`update action_intents set failed_at = now() - interval '91 days'`)
  await worker.run(jobs, 'expire-actions')
  expect(await left()).toBe(0)
  stop.wake()
  await expect(lost).rejects.toThrow('away')
})

test('another tenant has keys of its own', async () => {
  await pay(reservation('shared'))
  const { tenant } = api.tenants.bLive
  const own = { tenant, actor: { id: null, requestId: null }, reservation: reservation('shared', 'b') }
  const answer = await runAction({ database: api.database }, own, payAction, async () => ({ amount: '7' }))
  expect(answer).toEqual({ status: 201, body: '{"paid":"7"}', replayed: false })
})
