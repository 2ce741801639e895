// Deletion of a schedule that is ACTIVE and has not begun: a change of plan is taken back (contract: Wallet grants, SCHEDULE_DELETED); and
// of a draft.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
let versions: string[]
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  versions = [await makeVersion(tenant), await makeVersion(tenant)]
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const remove = (id: unknown): Promise<Answer> => tenant.call('DELETE', `${SCHEDULES}/${id}`)
const of = (id: string) => `${SCHEDULES}?pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`
const timeline = async (id: string) =>
  (await succeed(tenant, 'GET', of(id)))['data'].map((row: Row) => [row['start_at'].slice(0, 10), row['end_at']])
/** An ACTIVE subscription since March, whose first schedule ends where the second starts. */
async function changing(second: string, first: object = {}): Promise<{ id: string; ids: [string, string] }> {
  const id = await makeSubscription(tenant)
  const before = await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', {
    pricing_plan_version_id: versions[0],
    end_at: second,
    ...first,
  })
  const after = await makeSchedule(tenant, id, second, { pricing_plan_version_id: versions[1] })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  return { id, ids: [before, after] }
}

test('one that has not begun is deleted, and the schedule before it runs on', async () => {
  const { id, ids } = await changing('2026-04-01T00:00:00Z')
  expect(await remove(ids[1])).toMatchObject({ status: 200, body: { id: ids[1] } })
  expect(await timeline(id)).toEqual([['2026-03-01', null]])
  expect((await remove(ids[1])).status).toBe(404)
})

test('a change of plan that is taken back can be made again, and credits nothing meanwhile', async () => {
  const { id, ids } = await changing('2026-04-01T00:00:00Z')
  await api.sql('update pricing_plan_schedules set refund_advance_charges = true where id = $1', [ids[0]])
  await remove(ids[1])
  const [row] = await api.sql('select refund_advance_charges from pricing_plan_schedules where id = $1', [ids[0]])
  expect(row).toEqual({ refund_advance_charges: false })
  await makeSchedule(tenant, id, '2026-05-01T00:00:00Z', { pricing_plan_version_id: versions[1] })
  expect(await timeline(id)).toEqual([
    ['2026-03-01', '2026-05-01T00:00:00Z'],
    ['2026-05-01', null],
  ])
})

test.each([
  ['that has begun', '2026-03-11T10:00:00Z', {}, 1, 'has begun'],
  ['that runs', '2026-04-01T00:00:00Z', {}, 0, 'has begun'],
  ['after a trial, which would run on', '2026-04-01T00:00:00Z', { type: 'TRIAL' }, 1, 'would run on'],
] as const)('one %s is not deleted', async (_which, second, first, place, why) => {
  const { id, ids } = await changing(second, first)
  const before = await timeline(id)
  const answer = await remove(ids[place])
  expect(answer).toMatchObject({ status: 409, body: { code: 'COULD_NOT_DELETE_RESOURCE', field: 'status' } })
  expect(answer.body['message']).toContain(why)
  expect(await timeline(id)).toEqual(before)
})

test('the only one, and one between two others, are not deleted', async () => {
  const id = await makeSubscription(tenant)
  const only = await makeSchedule(tenant, id, '2026-06-01T00:00:00Z', { pricing_plan_version_id: versions[0] })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  expect((await remove(only)).body['message']).toContain('no other')
  const later = await makeSchedule(tenant, id, '2026-07-01T00:00:00Z', {
    pricing_plan_version_id: versions[0],
    query: '?set_previous_end_at=true',
  })
  expect((await remove(only)).body['message']).toContain(`${later} follows it`)
  const { id: other, ids } = await changing('2026-04-01T00:00:00Z')
  const last = await makeSchedule(tenant, other, '2026-05-01T00:00:00Z', { pricing_plan_version_id: versions[0] })
  expect((await remove(ids[1])).body['message']).toContain('would leave a gap')
  await remove(last)
  expect((await remove(ids[1])).status).toBe(200)
})

describe('a draft that is deleted', () => {
  const MAY = '2026-05-01T00:00:00Z'
  const running = async (more: object = {}) => {
    const id = await makeSubscription(tenant)
    const first = await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', {
      pricing_plan_version_id: versions[0],
      ...more,
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
    return { id, first }
  }
  const draft = (id: string, query = '') =>
    makeSchedule(tenant, id, MAY, { pricing_plan_version_id: versions[1], query })

  test('has the schedule run on that had no end before, also after it was moved', async () => {
    const { id } = await running()
    const next = await draft(id)
    await succeed(tenant, 'PATCH', `${SCHEDULES}/${next}?set_previous_end_at=true`, {
      start_at: '2026-06-01T00:00:00Z',
    })
    expect(await timeline(id)).toEqual([
      ['2026-03-01', '2026-06-01T00:00:00Z'],
      ['2026-06-01', null],
    ])
    expect((await remove(next)).status).toBe(200)
    expect(await timeline(id)).toEqual([['2026-03-01', null]])
  })

  test.each([
    ['when it was created', async () => await running({ end_at: MAY })],
    [
      'since then',
      async () => {
        const made = await running()
        await draft(made.id)
        const url = `${SCHEDULES}/${made.first}?set_next_start_at=true`
        await succeed(tenant, 'PATCH', url, { end_at: '2026-04-01T00:00:00Z' })
        return made
      },
    ],
  ])('leaves an end that was given %s', async (_when, make) => {
    const { id, first } = await make()
    const [, planned] = (await succeed(tenant, 'GET', of(id)))['data']
    const next = planned?.id ?? (await draft(id))
    const { end_at } = await succeed(tenant, 'GET', `${SCHEDULES}/${first}`)
    expect((await remove(next)).status).toBe(200)
    expect((await succeed(tenant, 'GET', `${SCHEDULES}/${first}`))['end_at']).toBe(end_at)
    expect(end_at).not.toBeNull()
  })

  test('has the one run on that took the place of the schedule before it', async () => {
    const { id, first } = await running()
    const next = await draft(id)
    const moved = await succeed(tenant, 'POST', `${SCHEDULES}/${first}/migrate?set_previous_end_at=true`, {
      start_at: '2026-04-01T00:00:00Z',
      pricing_plan_version_id: versions[1],
    })
    expect(moved['end_at']).toBe(MAY)
    await succeed(tenant, 'POST', `${SCHEDULES}/${moved['id']}/activate`)
    expect((await remove(next)).status).toBe(200)
    expect(await timeline(id)).toEqual([
      ['2026-03-01', '2026-04-01T00:00:00Z'],
      ['2026-04-01', null],
    ])
  })

  test('does not bring back time that has passed', async () => {
    const { id } = await running()
    const next = await draft(id)
    const now = api.clock.now()
    api.clock.set(instantOf(Date.parse('2026-05-02T00:00:00Z')))
    expect((await remove(next)).status).toBe(200)
    expect(await timeline(id)).toEqual([['2026-03-01', MAY]])
    api.clock.set(instantOf(now))
  })
})
