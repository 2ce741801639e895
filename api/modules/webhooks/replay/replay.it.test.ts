// Replays: what an endpoint has missed is sent again, in order, at a pace, whatever fails or dies meanwhile. The test
// sets the clock.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import type { Row } from '../../../testing/wire.ts'
import { sendDue } from '../delivery/sender.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'

let rig: DeliveryRig
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())

const START = Date.parse('2026-03-11T10:00:00Z')
const HOUR_MS = 3_600_000
let now: number
const pass = (ms: number): void => {
  now += ms
  rig.api.clock.set(now)
}
const OK: PostOutcome = { succeeded: true, responseCode: 200, cause: null, durationMs: 5 }
const FAILED: PostOutcome = { succeeded: false, responseCode: 503, cause: 'The endpoint answered 503.', durationMs: 5 }

type Sent = { eventId: string; object: string; version: number; kind: string; at: number }
let sent: Sent[]
let answers: (one: Sent) => PostOutcome
const post: Post = async ({ headers, body }) => {
  const { type, data } = JSON.parse(body)
  const [object = '', version = ''] = String(data.email).replace('@example.com', '').split('.')
  const one = { eventId: String(headers['X-EVENT-ID']), object, version: Number(version), kind: type, at: now }
  const outcome = answers(one)
  if (outcome.succeeded) sent.push(one)
  return outcome
}
beforeEach(async () => {
  await rig.api.sql('delete from webhooks; delete from outbox; delete from webhook_attempts')
  now = START
  rig.api.clock.set(now)
  sent = []
  answers = () => OK
  versions.clear()
})

const tenant = () => rig.api.tenants.aLive
const call = async (method: string, url: string, body?: object): Promise<Row> =>
  (await tenant().call(method, url, body)).body
async function webhook(more: object = {}): Promise<Row> {
  const made = await call('POST', '/v1/webhooks', {
    reference: tenant().seed.unique('hook'),
    name: 'Hook',
    url: 'https://hooks.example.com/',
    included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'],
    ...more,
  })
  expect(made).toMatchObject({ object_type: 'WEBHOOK' })
  return made
}
/** The ids and last versions of the customers of a test, by name. */
const versions = new Map<string, { id: unknown; version: number }>()
/** Creates the customer, or its next version, and gives the event its position. */
async function change(name: string): Promise<void> {
  const known = versions.get(name)
  const version = (known?.version ?? 0) + 1
  const email = `${name}.${version}@example.com`
  const made = known
    ? await call('PATCH', `/v1/customers/${known.id}`, { email })
    : await call('POST', '/v1/customers', { type: 'INDIVIDUAL', email })
  versions.set(name, { id: made['id'], version })
  await rig.relay()
}
const send = (more = {}) => rig.send({ post, ...more })
/** Lets time pass for the pace of a replay until nothing is due any more. */
async function sendAll(): Promise<void> {
  for (let count = -1; count !== sent.length; ) {
    count = sent.length
    await send()
    pass(1_000)
    await send()
  }
}
const replay = (id: unknown, body: object) => call('POST', `/v1/webhooks/${id}/replay`, body)
const readReplay = (id: unknown, { id: replayId }: Row) => call('GET', `/v1/webhooks/${id}/replays/${replayId}`)
const switchTo = (id: unknown, active: boolean) => call('PATCH', `/v1/webhooks/${id}`, { active })
const texts = (of = sent) => of.map(({ object, version }) => `${object}${version}`)

/** What every receiver may rely on: each version at least once, the newest of each object last, in rising runs. */
function expectWhole(replayed: readonly Sent[]): void {
  for (const [name, { version: newest }] of versions) {
    const own = sent.filter(({ object }) => object === name).map(({ version }) => version)
    expect(new Set(own)).toEqual(new Set(Array.from({ length: newest }, (_, index) => index + 1)))
    expect(own.at(-1)).toBe(newest)
    const again = replayed.filter(({ object }) => object === name).map(({ version }) => version)
    expect(again).toEqual(again.toSorted((a, b) => a - b))
  }
}

describe('an endpoint that was down for two days and is replayed has seen every event, in order per object', () => {
  /** Two days with an event every two hours, of objects in turn, and a delivery after each. */
  async function twoDays(names: readonly string[]): Promise<void> {
    for (let hour = 0; hour < 48; hour += 2) {
      await change(names[(hour / 2) % names.length] ?? 'a')
      await send()
      pass(2 * HOUR_MS)
    }
  }

  test.each(['ALL', 'FAILED'])('switched off meanwhile, with scope %s', async scope => {
    const { id } = await webhook()
    for (const name of ['a', 'b', 'c', 'quiet']) await change(name)
    await send()
    await switchTo(id, false)
    const from = new Date(now).toISOString()
    await twoDays(['a', 'b', 'c'])
    await switchTo(id, true)
    for (const name of ['a', 'd', 'quiet']) await change(name)
    await send()
    expect(texts()).toEqual(['a1', 'b1', 'c1', 'quiet1', 'a10', 'd1', 'quiet2'])
    const before = sent.length
    const started = await replay(id, { from, scope })
    expect(started).toMatchObject({ object_type: 'WEBHOOK_REPLAY', status: 'RUNNING', scope, events_sent: 0 })
    await sendAll()
    const replayed = sent.slice(before)
    expectWhole(replayed)
    // What was received is sent again only where an earlier event of the same object was not.
    const again = texts(replayed).filter(text => ['a10', 'd1', 'quiet2'].includes(text))
    expect(again).toEqual(scope === 'ALL' ? ['a10', 'd1', 'quiet2'] : ['a10'])
    expect(await readReplay(id, started)).toMatchObject({
      status: 'COMPLETED',
      events_sent: replayed.length,
      events_remaining: 0,
      finished_at: expect.any(String),
    })
  })

  test('failing meanwhile, and it had lost what it received before', async () => {
    const { id } = await webhook()
    for (const name of ['a', 'b', 'c']) await change(name)
    await send()
    const [lost] = sent.splice(0)
    answers = () => FAILED
    await twoDays(['a', 'b', 'c'])
    expect(sent).toEqual([])
    answers = () => OK
    await replay(id, { from_event_id: lost?.eventId })
    await sendAll()
    expectWhole(sent)
    expect(texts()).toEqual([...new Set(texts())]) // in one run: nothing twice
  })

  test('whatever dies while it is replayed: repeats, and nothing missing', async () => {
    const { id } = await webhook()
    await switchTo(id, false)
    await twoDays(['a', 'b', 'c'])
    await switchTo(id, true)
    const started = await replay(id, { from: new Date(START).toISOString(), scope: 'FAILED', events_per_second: 7 })
    for (const point of ['webhooks.before-record', 'webhooks.after-record', 'webhooks.before-record']) {
      await send({ failpoints: createFailpoints(`${point}:error`) }).catch(() => undefined)
      pass(61_000) // the lease of the dead one ends
    }
    answers = ({ version }) => (version % 3 === 0 && now % 2 === 0 ? FAILED : OK)
    await sendAll()
    answers = () => OK
    for (let round = 0; round < 8; round += 1) {
      pass(10 * 60_000)
      await sendAll()
    }
    for (const name of versions.keys()) {
      const own = sent.filter(({ object }) => object === name).map(({ version }) => version)
      let highest = 0
      for (const version of own) {
        expect(version).toBeLessThanOrEqual(highest + 1)
        highest = Math.max(highest, version)
      }
      expect(highest).toBe(versions.get(name)?.version)
    }
    expect(await readReplay(id, started)).toMatchObject({ status: 'COMPLETED', events_sent: 24 })
  })
})

describe('a replay', () => {
  test('sends at its pace, shows its progress, and lets new events wait behind it', async () => {
    const { id } = await webhook()
    for (let index = 0; index < 12; index += 1) await change('a')
    await send()
    sent = []
    const started = await replay(id, { from: new Date(START).toISOString(), events_per_second: 5 })
    expect(started).toMatchObject({ events_per_second: 5, events_remaining: 12 })
    await change('new')
    await send()
    expect(texts()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
    expect(await readReplay(id, started)).toMatchObject({ status: 'RUNNING', events_sent: 5, events_remaining: 7 })
    pass(999)
    await send()
    expect(sent).toHaveLength(5)
    pass(1)
    await send()
    expect(sent).toHaveLength(10)
    await sendAll()
    expect(texts().slice(10)).toEqual(['a11', 'a12', 'new1'])
    expect(await readReplay(id, started)).toMatchObject({ status: 'COMPLETED', events_sent: 12 })
    const list = await call('GET', `/v1/webhooks/${id}/replays`)
    expect(list['data']).toEqual([await readReplay(id, started)])
    const kinds = await rig.api.sql(`select kind, count(*)::int from webhook_attempts group by 1 order by 1`)
    expect(kinds).toEqual([
      { kind: 'QUEUE', count: 13 },
      { kind: 'REPLAY', count: 12 },
    ])
  })

  test('sends what is older than seven days, and of a webhook only what it takes', async () => {
    const { id } = await webhook({ included_actions: ['CUSTOMER.CREATED'] })
    await switchTo(id, false)
    for (const name of ['a', 'a', 'b']) await change(name)
    pass(20 * 24 * HOUR_MS)
    await switchTo(id, true)
    await replay(id, { from: new Date(START).toISOString(), scope: 'FAILED' })
    await sendAll()
    expect(texts()).toEqual(['a1', 'b1'])
  })

  test('with scope FAILED leaves out what happened before the webhook was made; with ALL it sends that as well', async () => {
    await change('a')
    const { id } = await webhook()
    await change('b')
    await send()
    await replay(id, { from: new Date(START).toISOString(), scope: 'FAILED' })
    await sendAll()
    expect(texts()).toEqual(['b1'])
    await replay(id, { from: new Date(START).toISOString(), scope: 'ALL' })
    await sendAll()
    expect(texts()).toEqual(['b1', 'a1', 'b1'])
  })

  test('that fails waits like any other delivery, and shows the event that blocks it', async () => {
    const { id } = await webhook()
    for (const name of ['a', 'b']) await change(name)
    await send()
    await switchTo(id, false)
    await change('c')
    await switchTo(id, true)
    const started = await replay(id, { from: new Date(START).toISOString(), scope: 'FAILED' })
    answers = () => FAILED
    await send()
    const { penalty_box_data } = await call('GET', `/v1/webhooks/${id}`)
    expect(penalty_box_data).toMatchObject({ retry_count: 1, retry_at: '2026-03-11T10:02:00Z' })
    expect(JSON.parse(penalty_box_data.payload).data.email).toBe('c.1@example.com')
    // After twenty failures the webhook is disabled, and the replay with it.
    for (let failure = 2; failure <= 20; failure += 1) {
      pass(512 * 60_000)
      await send()
    }
    expect(await call('GET', `/v1/webhooks/${id}`)).toMatchObject({ active: false })
    expect(await readReplay(id, started)).toMatchObject({ status: 'CANCELLED', events_sent: 0 })
    expect(await replay(id, { from: new Date(START).toISOString() })).toMatchObject({
      code: 'INVALID_OPERATION',
      field: 'active',
    })
  })

  test('is cancelled by a call, and the queue continues where it was', async () => {
    const { id } = await webhook()
    for (const name of ['a', 'b', 'c']) await change(name)
    await send()
    sent = []
    const started = await replay(id, { from: new Date(START).toISOString(), events_per_second: 1 })
    await send()
    expect(await replay(id, { from: new Date(START).toISOString() })).toMatchObject({ code: 'INVALID_OPERATION' })
    const cancel = `/v1/webhooks/${id}/replays/${started['id']}/cancel`
    expect(await call('POST', cancel)).toMatchObject({ status: 'CANCELLED', events_sent: 1 })
    expect(await call('POST', cancel)).toMatchObject({ status: 'CANCELLED', events_sent: 1 })
    // The audit trail shows who started and who cancelled it, once each.
    await rig.relay()
    const audit = await rig.api.sql(
      `select action, user_id from audit_records where target_resource_type = 'WEBHOOK_REPLAY' and target_id = $1 order by sequence`,
      [started['id']],
    )
    const user_id = expect.stringMatching(/^akey_/)
    expect(audit).toEqual([
      { action: 'CREATED', user_id },
      { action: 'CANCELLED', user_id },
    ])
    await change('d')
    await sendAll()
    expect(texts()).toEqual(['a1', 'd1'])
  })

  test('is not undone by a delivery that was under way when it began', async () => {
    const { id } = await webhook()
    await change('a')
    await send()
    await change('b')
    let wake = (): void => undefined
    const asleep = new Promise<void>(resolve => {
      wake = resolve
    })
    const slow = sendDue({ ...rig.deps, post: request => asleep.then(() => post(request)) }, false)
    const leased = () =>
      rig.api.sql('select 1 from webhook_queues where leased_until > $1', [new Date(now).toISOString()])
    await expect.poll(leased).toHaveLength(1)
    sent = []
    await replay(id, { from: new Date(START).toISOString() })
    await send()
    expect(texts()).toEqual([]) // nobody sends beside the delivery
    wake()
    await slow
    // Ending the delivery releases the queue before any lease runs out.
    await send()
    expect(texts()).toEqual(['b1', 'a1', 'b1'])
    await sendAll()
    expect(texts()).toEqual(['b1', 'a1', 'b1'])
  })

  test.each([
    [{}, 'MISSING_FIELD', 'from'],
    [{ from: 'yesterday' }, 'INVALID_FIELD', 'from'],
    [{ from: '2030-01-01T00:00:00Z' }, 'INVALID_FIELD', 'from'],
    [{ from: '2026-01-01T00:00:00Z', from_event_id: 'evnt_1' }, 'INVALID_FIELD', 'from'],
    [{ from_event_id: 'evnt_0' }, 'RESOURCE_NOT_FOUND', undefined],
    [{ from: '2026-01-01T00:00:00Z', scope: 'SOME' }, 'INVALID_FIELD', 'scope'],
    [{ from: '2026-01-01T00:00:00Z', events_per_second: 0 }, 'INVALID_FIELD', 'events_per_second'],
  ])('with %j is refused', async (body, code, field) => {
    const { id } = await webhook()
    const answer = await replay(id, body)
    expect([answer['code'], answer['field']]).toEqual([code, field])
    expect(await call('GET', `/v1/webhooks/${id}/replays`)).toMatchObject({ data: [] })
    expect(await replay('nothing', { from: '2026-01-01T00:00:00Z' })).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })

  test('of nothing is over at once', async () => {
    const { id } = await webhook()
    const started = await replay(id, { from: new Date(now).toISOString() })
    await sendAll()
    expect(await readReplay(id, started)).toMatchObject({ status: 'COMPLETED', events_sent: 0 })
  })
})
