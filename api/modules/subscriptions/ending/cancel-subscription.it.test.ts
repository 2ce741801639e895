// Cancelling against a real database: when it takes effect, what it leaves behind, and how it is taken back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant } from '../../../../shared/database/database.ts'
import { lockOne } from '../../../resource/store.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticeTypesOf } from '../../../testing/notices.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'
import { makeActiveSubscription, makeSchedule, makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { settleCancellations } from './cancel-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const PATH = '/v1/pricing-plan-subscriptions'
const setClock = (text: string) => api.clock.set(Date.parse(text))
const cancel = (id: string, body: object) => tenant.call('POST', `${PATH}/${id}/cancel`, body)

test('NEXT_BILLING_PERIOD leaves it ACTIVE with one inactive period, and UNDO takes that away (scenario P)', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-01-15T00:00:00Z')
  // The billing entity of the fixture lies in Amsterdam: April begins there at 22:00 UTC, in summer time.
  expect(await cancel(id, { type: 'NEXT_BILLING_PERIOD' })).toMatchObject({
    status: 200,
    body: { status: 'ACTIVE', inactive_periods: [{ type: 'CANCEL', start_at: '2026-03-31T22:00:00Z' }] },
  })
  expect(await cancel(id, { type: 'UNDO' })).toMatchObject({
    status: 200,
    body: { status: 'ACTIVE', inactive_periods: [] },
  })
  expect(await cancel(id, { type: 'UNDO' })).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })
})

describe('NEXT_BILLING_PERIOD is the end of the period that runs', () => {
  test.each([
    [
      'calendar quarter',
      { billing_period: { type: 'MONTH', value: 3 } },
      '2026-02-11T00:00:00Z',
      {},
      '2026-03-31T22:00:00Z',
    ],
    ['exact month from the 31st', { billing_time: 'EXACT' }, '2026-01-30T23:00:00Z', {}, '2026-03-30T22:00:00Z'],
    [
      'a billing day of its own',
      { billing_time: 'EXACT', billing_anchor: '2026-05-31T00:00:00+02:00' },
      '2026-02-11T00:00:00Z',
      {},
      '2026-03-30T22:00:00Z',
    ],
    [
      'a schedule that ends before',
      {},
      '2026-03-01T00:00:00Z',
      { end_at: '2026-03-20T00:00:00Z' },
      '2026-03-20T00:00:00Z',
    ],
    [
      'a schedule that charges by the year',
      {},
      '2026-03-01T00:00:00Z',
      { billing_period: { type: 'YEAR', value: 1 } },
      '2026-12-31T23:00:00Z',
    ],
    [
      'a schedule that charges by the month',
      { billing_period: { type: 'YEAR', value: 1 } },
      '2026-01-01T00:00:00Z',
      { billing_period: { type: 'MONTH', value: 1 } },
      '2026-03-31T22:00:00Z',
    ],
    ['not started yet', {}, '2026-05-05T00:00:00Z', {}, '2026-05-05T00:00:00Z'],
  ])('%s', async (_name, terms, start, schedule, expected) => {
    setClock('2026-03-11T10:00:00Z')
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, start, schedule)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { ...terms, status: 'ACTIVE' })
    expect((await cancel(id, { type: 'NEXT_BILLING_PERIOD' })).body['inactive_periods']).toEqual([
      { type: 'CANCEL', start_at: expected },
    ])
  })
})

test('one whose last schedule has ended stays ACTIVE, so another can follow, until it is cancelled', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeSubscription(tenant)
  const end = '2026-03-15T00:00:00Z'
  await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { end_at: end })
  await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
  setClock('2026-05-01T10:00:00Z')
  expect(await succeed(tenant, 'GET', `${PATH}/${id}`)).toMatchObject({ status: 'ACTIVE', inactive_periods: [] })
  const next = await makeSchedule(tenant, id, end)
  await succeed(tenant, 'DELETE', `/v1/pricing-plan-schedules/${next}`)
  expect(await cancel(id, { type: 'NOW' })).toMatchObject({ status: 200, body: { status: 'CANCELLED' } })
})

test('NOW cancels at once, is due for billing, and cannot be taken back', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  expect(await cancel(id, { type: 'NOW' })).toMatchObject({
    status: 200,
    body: { status: 'CANCELLED', inactive_periods: [{ type: 'CANCEL', start_at: '2026-03-11T10:00:00Z' }] },
  })
  for (const [type, field] of [
    ['UNDO', 'type'],
    ['NOW', undefined],
  ]) {
    const { status, body } = await cancel(id, { type })
    expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_OPERATION', field])
  }
  const types = await noticeTypesOf(api, id)
  expect(types.slice(-2)).toEqual(['PRICING_PLAN_SUBSCRIPTION.UPDATED', 'PRICING_PLAN_SUBSCRIPTION.CANCELLED'])
  const schedule = { pricing_plan_subscription_id: id, pricing_plan_version_id: 'x', start_at: '2026-06-01T00:00:00Z' }
  expect((await tenant.call('POST', '/v1/pricing-plan-schedules', schedule)).status).toBe(404)
})

test('DATE takes effect on its day, once, however often the worker looks', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  expect((await cancel(id, { type: 'DATE', cancel_at: '2026-04-16T00:00:00+02:00' })).body).toMatchObject({
    status: 'ACTIVE',
    inactive_periods: [{ type: 'CANCEL', start_at: '2026-04-15T22:00:00Z' }],
  })
  const settle = () =>
    inTenant(
      api.database,
      tenant.tenant,
      { id: null, requestId: null },
      async uow =>
        (await settleCancellations(uow, [(await lockOne(uow, subscriptionResource, id)) as Subscription]))[0]?.status,
    )
  expect(await settle()).toBe('ACTIVE')
  setClock('2026-04-15T22:00:00Z')
  expect(await Promise.all([settle(), settle()])).toEqual(['CANCELLED', 'CANCELLED'])
  const cancelled = await api.sql("select 1 from outbox where object_id = $1 and type like '%.CANCELLED'", [id])
  expect(cancelled).toHaveLength(1)
})

test('another date replaces the one before; the same date changes nothing', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  for (const cancel_at of ['2026-05-01T00:00:00Z', '2026-04-20T00:00:00Z', '2026-04-20T00:00:00Z'])
    await cancel(id, { type: 'DATE', cancel_at })
  const { body } = await tenant.call('GET', `${PATH}/${id}`)
  expect(body['inactive_periods']).toEqual([{ type: 'CANCEL', start_at: '2026-04-20T00:00:00Z' }])
  const updates = await api.sql("select 1 from outbox where object_id = $1 and type like '%.UPDATED'", [id])
  expect(updates).toHaveLength(3)
})

test.each([
  [{ type: 'AFTER_INITIAL_TERM' }, 'type', 'INVALID_OPERATION'],
  [{ type: 'UNDO', refund_advance_charges: true }, 'refund_advance_charges', 'INVALID_FIELD'],
  [{ type: 'DATE' }, 'cancel_at', 'MISSING_FIELD'],
  [{ type: 'DATE', cancel_at: '2026-03-11T10:00:00Z' }, 'cancel_at', 'INVALID_FIELD'],
  [{ type: 'NOW', cancel_at: '2026-05-01T00:00:00Z' }, 'cancel_at', 'INVALID_FIELD'],
  [{ type: 'NOW', cancel_dunning_actions: true }, 'cancel_dunning_actions', 'INVALID_FIELD'],
  [{}, 'type', 'MISSING_FIELD'],
  [{ type: 'SOON' }, 'type', 'INVALID_FIELD'],
])('refuses %j', async (body, field, code) => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  expect(await cancel(id, body)).toMatchObject({ status: 400, body: { field, code } })
})

describe('terms', () => {
  const year = { type: 'YEAR', value: 1 }
  const month = { type: 'MONTH', value: 1 }
  /** ACTIVE since 15 January 2026 in Amsterdam, with these terms. */
  async function agreed(terms: object): Promise<string> {
    setClock('2026-03-11T10:00:00Z')
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, '2026-01-14T23:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { ...terms, status: 'ACTIVE' })
    return id
  }
  const endsOf = async (id: string): Promise<string[]> =>
    (await succeed(tenant, 'GET', `${PATH}/${id}`))['inactive_periods'].map(
      (each: { start_at: string }) => each.start_at,
    )

  test('one that is renewed runs on, and AFTER_INITIAL_TERM ends it with the term that runs', async () => {
    const id = await agreed({ initial_term: year, renewal_term: month })
    expect(await endsOf(id)).toEqual([])
    expect((await cancel(id, { type: 'AFTER_INITIAL_TERM' })).body['inactive_periods']).toEqual([
      { type: 'CANCEL', start_at: '2027-01-14T23:00:00Z' },
    ])
    await succeed(tenant, 'POST', `${PATH}/${id}/cancel`, { type: 'UNDO' })
    setClock('2027-02-20T00:00:00Z')
    await cancel(id, { type: 'AFTER_INITIAL_TERM' })
    expect(await endsOf(id)).toEqual(['2027-03-14T23:00:00Z'])
  })

  test('one that is not renewed ends with its term, which UNDO does not take back', async () => {
    const id = await agreed({ initial_term: year, auto_renewal: false })
    expect(await endsOf(id)).toEqual(['2027-01-14T23:00:00Z'])
    expect((await cancel(id, { type: 'UNDO' })).body).toMatchObject({ code: 'INVALID_OPERATION', field: 'type' })
    await cancel(id, { type: 'DATE', cancel_at: '2026-06-01T00:00:00Z' })
    await cancel(id, { type: 'UNDO' })
    expect(await endsOf(id)).toEqual(['2027-01-14T23:00:00Z'])
  })

  test('whether it is renewed may change while it runs', async () => {
    const id = await agreed({ initial_term: month, renewal_term: year })
    const patch = (auto_renewal: boolean) => succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal })
    // The first month is over: the renewal of a year runs.
    await patch(false)
    expect(await endsOf(id)).toEqual(['2027-02-14T23:00:00Z'])
    await patch(true)
    expect(await endsOf(id)).toEqual([])
    await cancel(id, { type: 'DATE', cancel_at: '2026-06-01T00:00:00Z' })
    await patch(false)
    await patch(true)
    expect(await endsOf(id)).toEqual(['2026-06-01T00:00:00Z'])
    const frozen = await tenant.call('PATCH', `${PATH}/${id}`, { initial_term: year })
    expect(frozen).toMatchObject({ status: 400, body: { field: 'initial_term' } })
  })

  test('renewing it takes the end of its term back, also where another renewal or time zone comes with it', async () => {
    // In its second month.
    const id = await agreed({ initial_term: month, renewal_term: month })
    const byTerm = { type: 'CANCEL', start_at: '2026-03-14T23:00:00Z', ends_with_term: true }
    const { inactive_periods } = await succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal: false })
    expect(inactive_periods).toEqual([byTerm])
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal: true, renewal_term: year })
    expect(await endsOf(id)).toEqual([])
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal: false })
    expect(await endsOf(id)).toEqual(['2027-02-14T23:00:00Z'])
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { renewal_term: month })
    const { customer_id } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    await succeed(tenant, 'PATCH', `/v1/customers/${customer_id}`, { timezone: 'America/New_York' })
    expect((await cancel(id, { type: 'UNDO' })).body).toMatchObject({ code: 'INVALID_OPERATION', field: 'type' })
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal: true })
    expect(await endsOf(id)).toEqual([])
  })

  test('an end of a term that a version before stored is one still', async () => {
    setClock('2026-11-10T10:00:00Z')
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, '2026-01-30T23:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { initial_term: month, status: 'ACTIVE' })
    const patch = (auto_renewal: boolean) => succeed(tenant, 'PATCH', `${PATH}/${id}`, { auto_renewal })
    await patch(false)
    expect(await endsOf(id)).toEqual(['2026-11-29T23:00:00Z'])
    // It counted months from the end of the initial term, 28 February.
    await api.sql(
      `update pricing_plan_subscriptions set cancelled_at = $2::text::timestamptz,
         inactive_periods = jsonb_build_array(jsonb_build_object('type', 'CANCEL', 'start_at', $2::text)) where id = $1`,
      [id, '2026-11-27T23:00:00Z'],
    )
    expect((await cancel(id, { type: 'UNDO' })).body).toMatchObject({ code: 'INVALID_OPERATION', field: 'type' })
    await patch(true)
    expect(await endsOf(id)).toEqual([])
  })
})

test('of a cancellation and an activation of a schedule at once, both find a whole subscription', async () => {
  setClock('2026-03-11T10:00:00Z')
  const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  const schedule = await makeSchedule(tenant, id, '2026-05-01T00:00:00Z', { query: '?set_previous_end_at=true' })
  const [cancelled, activated] = await Promise.all([
    cancel(id, { type: 'NOW' }),
    tenant.call('POST', `/v1/pricing-plan-schedules/${schedule}/activate`),
  ])
  expect(cancelled.status).toBe(200)
  if (activated.status !== 200) expect(activated.body).toMatchObject({ code: 'INVALID_OPERATION' })
  const [row] = await api.sql('select status from pricing_plan_schedules where id = $1', [schedule])
  expect(row?.['status']).toBe(activated.status === 200 ? 'ACTIVE' : 'DRAFT')
})

test('a DRAFT is not cancelled', async () => {
  const id = await makeSubscription(tenant)
  expect(await cancel(id, { type: 'NOW' })).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })
})
