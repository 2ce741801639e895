// An action ends once, wherever it is left: by its caller's repeat, by the worker, and never by one who lost it meanwhile.

import { Registry } from 'prom-client'
import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database, Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { silentLogger } from '../../../shared/logger.ts'
import { openTestDatabase } from '../../../shared/testing/database-logins.ts'
import { prepareJobSchema } from '../../jobs/job-schema.ts'
import { createWorkerMetrics } from '../../jobs/metrics.ts'
import { runJob } from '../../jobs/testing/run-job.ts'
import { emit } from '../../outbox.ts'
import { type ApiHarness, startOwnApi } from '../../testing/harness.ts'
import type { Reservation } from '../idempotency.ts'
import { type ActionDeps, defineAction, runAction } from './action.ts'
import { actionJobs } from './finish-actions.ts'

let api: ApiHarness
let worker: Database
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
  worker = await openTestDatabase({
    url: api.databaseUrl,
    role: 'millrace_worker',
    clock: api.clock,
    logger: silentLogger,
    poolMax: 4,
  })
  await prepareJobSchema(api.databaseUrl)
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
const deps = () => ({
  system: worker,
  database: api.database,
  metrics: createWorkerMetrics(new Registry()),
  logger: silentLogger,
})
/** What the worker does when it looks: finds, and finishes what it found. */
async function workerLooks(): Promise<void> {
  await runJob(jobs, 'find-unfinished-actions', deps())
  const found = await api.sql(`select payload from graphile_worker._private_jobs`)
  await api.sql('delete from graphile_worker._private_jobs')
  for (const { payload } of found) await runJob(jobs, 'finish-action', deps(), payload)
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
    // Whoever finishes it, the notice names who began it.
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

test('a fault leaves it to the worker, which tries until it is done', async () => {
  fails = new Error('the other side is away')
  await expect(pay(reservation(null))).rejects.toThrow('away')
  expect(await left()).toBe(1)
  await expect(workerLooks()).rejects.toThrow('away')
  fails = null
  await workerLooks()
  await workerLooks()
  expect([calls, outside.size, (await paid()).length, await left()]).toEqual([3, 1, 1, 0])
})

test('another tenant has keys of its own', async () => {
  await pay(reservation('shared'))
  const { tenant } = api.tenants.bLive
  const own = { tenant, actor: { id: null, requestId: null }, reservation: reservation('shared', 'b') }
  const answer = await runAction({ database: api.database }, own, payAction, async () => ({ amount: '7' }))
  expect(answer).toEqual({ status: 201, body: '{"paid":"7"}', replayed: false })
})
