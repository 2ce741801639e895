// The start of a schedule that is ACTIVE and has not begun: a trial is extended, a change of plan waits longer (semantics 4.3).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
let version: string
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  version = await makeVersion(tenant)
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const day = (text: string): string => `${text}T00:00:00Z`
const timeline = async (id: string) =>
  (
    await succeed(
      tenant,
      'GET',
      `${SCHEDULES}?pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`,
    )
  )['data'].map((row: Row) => [row['start_at'], row['end_at']])
const refusal = (field: string) => expect.objectContaining({ code: 'INVALID_FIELD', field })

/** An ACTIVE subscription whose schedule of March ends where each next one starts. */
async function subscribed(...starts: string[]): Promise<{ id: string; ids: string[] }> {
  const id = await makeSubscription(tenant)
  const ids: string[] = []
  for (const [place, start] of ['2026-03-01', ...starts].entries()) {
    const end = starts[place]
    const ends = end === undefined ? {} : { end_at: day(end) }
    ids.push(await makeSchedule(tenant, id, day(start), { pricing_plan_version_id: version, ...ends }))
  }
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  return { id, ids }
}
const move = (id: string | undefined, to: string, query = '?set_previous_end_at=true'): Promise<Answer> =>
  tenant.call('PATCH', `${SCHEDULES}/${id}${query}`, { start_at: to })
const end = (id: string | undefined, to: string): Promise<Answer> =>
  tenant.call('PATCH', `${SCHEDULES}/${id}?set_next_start_at=true`, { end_at: to })

test('moves with the end of the one before it, in both directions and from either side', async () => {
  const { id, ids } = await subscribed('2026-04-01')
  for (const [answer, start] of [
    [() => move(ids[1], day('2026-05-01')), day('2026-05-01')],
    [() => move(ids[1], day('2026-03-20')), day('2026-03-20')],
    [() => end(ids[0], day('2026-06-01')), day('2026-06-01')],
    [() => end(ids[0], '2026-03-11T10:00:00Z'), '2026-03-11T10:00:00Z'],
  ] as const) {
    expect((await answer()).status).toBe(200)
    expect(await timeline(id)).toEqual([
      [day('2026-03-01'), start],
      [start, null],
    ])
  }
  // It has begun by then.
  expect((await move(ids[1], day('2026-05-01'))).body).toEqual(refusal('start_at'))
})

test('leaves no gap and no overlap, and not into the past', async () => {
  const { id, ids } = await subscribed('2026-04-01', '2026-05-01')
  const before = await timeline(id)
  for (const [answer, field] of [
    [await move(ids[1], day('2026-04-10'), ''), 'start_at'],
    [await move(ids[1], day('2026-03-20'), ''), 'start_at'],
    [await move(ids[1], day('2026-05-01')), 'end_at'],
    [await move(ids[1], day('2026-03-11')), 'start_at'],
    [await move(ids[0], day('2026-03-20')), 'start_at'],
    [await end(ids[0], day('2026-03-11')), 'end_at'],
    [await end(ids[0], day('2026-05-01')), 'end_at'],
  ] as const) {
    expect(answer).toMatchObject({ status: 400, body: refusal(field) })
    expect(await timeline(id)).toEqual(before)
  }
})
