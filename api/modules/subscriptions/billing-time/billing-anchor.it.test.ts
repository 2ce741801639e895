// A billing day of one's own through the api: who may set it, until when, and that previews and invoices are cut on it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-01-01T00:00:00Z', 'TEST'))
})
afterAll(() => stop())

const PATH = '/v1/pricing-plan-subscriptions'
const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const patch = (id: string, body: object) => tenant.call('PATCH', `${PATH}/${id}`, body)
const refusal = (answer: { status: number; body: Row }) => [answer.status, answer.body['code'], answer.body['field']]
const REFUSED = [400, 'INVALID_FIELD', 'billing_anchor']

describe('billing_anchor', () => {
  test('is set with EXACT, cleared with null, and shown as it was given', async () => {
    const id = await makeSubscription(tenant)
    const set = await patch(id, { billing_time: 'EXACT', billing_anchor: '2026-01-31T00:00:00+01:00' })
    expect(set.body).toMatchObject({ billing_time: 'EXACT', billing_anchor: '2026-01-30T23:00:00Z' })
    expect((await patch(id, { billing_anchor: null })).body).toMatchObject({ billing_anchor: null })
  })

  test('is refused where periods follow the calendar, however that comes about', async () => {
    const id = await makeSubscription(tenant)
    expect(refusal(await patch(id, { billing_anchor: '2026-01-15T00:00:00Z' }))).toEqual(REFUSED)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { billing_time: 'EXACT', billing_anchor: '2026-01-15T00:00:00Z' })
    expect(refusal(await patch(id, { billing_time: 'CALENDAR' }))).toEqual(REFUSED)
    expect((await patch(id, { billing_time: 'CALENDAR', billing_anchor: null })).status).toBe(200)
    for (const billing_anchor of ['15', '2026-02-30T00:00:00Z', '2026-01-15', 15])
      expect((await patch(id, { billing_time: 'EXACT', billing_anchor })).body['field']).toBe('billing_anchor')
  })

  test('is frozen once the subscription is ACTIVE', async () => {
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, '2026-03-11T00:00:00Z')
    const billing_anchor = '2026-01-15T00:00:00Z'
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { billing_time: 'EXACT', billing_anchor, status: 'ACTIVE' })
    for (const other of ['2026-01-16T00:00:00Z', null])
      expect(refusal(await patch(id, { billing_anchor: other }))).toEqual(REFUSED)
    expect((await patch(id, { billing_anchor, name: 'Same day' })).status).toBe(200)
  })

  test('cuts previews, of a DRAFT too, and invoices: a stub, then whole months from the 31st on', async () => {
    setTime('2026-03-11T10:00:00Z')
    const { subscriptionId: id } = await billedSubscription(tenant, {
      start_at: '2026-03-11T00:00:00Z',
      fee: '310',
      subscription: { billing_time: 'EXACT', billing_anchor: '2026-01-31T00:00:00Z' },
      activate: false,
    })
    const preview = async (): Promise<unknown[]> => {
      const body = { pricing_plan_subscription_id: id, start_at: '2026-03-11T00:00:00Z', invoices_per_schedule: 3 }
      const { invoice_infos } = await succeed(tenant, 'POST', '/v1/invoices/preview', body)
      return invoice_infos[0].invoices.map(datesOf)
    }
    const expected = [
      // 20 of the 31 days from 28 February to 31 March.
      ['2026-03-11T00:00:00Z', '2026-03-31T00:00:00Z', '200.00'],
      ['2026-03-31T00:00:00Z', '2026-04-30T00:00:00Z', '310.00'],
      ['2026-04-30T00:00:00Z', '2026-05-31T00:00:00Z', '310.00'],
    ]
    expect(await preview()).toEqual(expected)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    expect(await preview()).toEqual(expected)
    for (const day of ['2026-03-11', '2026-03-31', '2026-04-30']) {
      setTime(`${day}T10:00:00Z`)
      await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
    }
    const url = `/v1/invoices?pricing_plan_subscription_id=${id}&statuses[]=DRAFT&statuses[]=FINAL&include_periods=true`
    const { data } = await succeed(tenant, 'GET', url)
    expect(data.map(datesOf).toSorted()).toEqual(expected)
  })
})

describe('realign_invoice_date_to_pricing_plan_schedule_start_at', () => {
  const FIELD = 'realign_invoice_date_to_pricing_plan_schedule_start_at'
  const SCHEDULES = '/v1/pricing-plan-schedules'

  test('is refused where periods follow the calendar, also when the subscription comes to follow it', async () => {
    const id = await makeSubscription(tenant)
    const version = await makeVersion(tenant)
    const body = {
      pricing_plan_subscription_id: id,
      pricing_plan_version_id: version,
      start_at: '2026-03-11T00:00:00Z',
    }
    const refused = [400, 'INVALID_FIELD', FIELD]
    expect(refusal(await tenant.call('POST', SCHEDULES, { ...body, [FIELD]: true }))).toEqual(refused)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { billing_time: 'EXACT' })
    const made = await succeed(tenant, 'POST', SCHEDULES, { ...body, [FIELD]: true })
    expect(made[FIELD]).toBe(true)
    expect(refusal(await patch(id, { billing_time: 'CALENDAR', status: 'ACTIVE' }))).toEqual(refused)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    expect(refusal(await tenant.call('PATCH', `${SCHEDULES}/${made['id']}`, { [FIELD]: false }))).toEqual(refused)
  })

  test('prorates the period before it, and bills from that day on', async () => {
    setTime('2027-02-20T10:00:00Z')
    const { subscriptionId: id } = await billedSubscription(tenant, {
      start_at: '2027-03-01T00:00:00Z',
      fee: '310',
      subscription: { billing_time: 'EXACT' },
    })
    const schedules = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${id}`)
    const copying = `${SCHEDULES}/${schedules['data'][0]['id']}/copy?set_previous_end_at=true`
    const next = await succeed(tenant, 'POST', copying, { start_at: '2027-03-20T00:00:00Z', [FIELD]: true })
    await succeed(tenant, 'POST', `${SCHEDULES}/${next['id']}/activate`)
    const shown = await succeed(tenant, 'GET', `${PATH}/${id}`)
    expect(shown['pricing_plan_schedule_infos'].map((info: Row) => info[FIELD])).toEqual([false, true])
    for (const day of ['2027-03-01', '2027-03-20', '2027-04-20']) {
      setTime(`${day}T10:00:00Z`)
      await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
    }
    const url = `/v1/invoices?pricing_plan_subscription_id=${id}&statuses[]=DRAFT&statuses[]=FINAL&include_periods=true`
    expect((await succeed(tenant, 'GET', url))['data'].map(datesOf).toSorted()).toEqual([
      // 19 of the 31 days from 1 March to 1 April.
      ['2027-03-01T00:00:00Z', '2027-03-20T00:00:00Z', '190.00'],
      ['2027-03-20T00:00:00Z', '2027-04-20T00:00:00Z', '310.00'],
      ['2027-04-20T00:00:00Z', '2027-05-20T00:00:00Z', '310.00'],
    ])
    const cancelled = await succeed(tenant, 'POST', `${PATH}/${id}/cancel`, { type: 'NEXT_BILLING_PERIOD' })
    expect(cancelled['inactive_periods'][0].start_at).toBe('2027-05-20T00:00:00Z')
  })
})

/** The time that an invoice's fee is for, and what it comes to. */
const datesOf = (invoice: Row) => [
  invoice['periods'].at(-1).start_at,
  invoice['periods'].at(-1).end_at,
  invoice['invoice_amount_excluding_tax'].quantity,
]
