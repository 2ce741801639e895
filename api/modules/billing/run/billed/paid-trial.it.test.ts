// A trial with prices of its own: it charges those, and what follows it is charged when it ends (semantics 4.3).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { runBilling } from '../run-billing.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const END = '2026-01-15T00:00:00Z'
const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)

/** Since 1 January in a trial of fourteen days for a fee of its own, and then on the same plan with a fee of 31 a month ahead. */
async function paidTrial(): Promise<string> {
  api.clock.set(Date.parse('2026-01-01T01:00:00Z'))
  const { subscriptionId } = await billedSubscription(tenant, {
    start_at: '2026-01-01T00:00:00Z',
    fee: '31',
    schedule: async () => ({ type: 'TRIAL', end_at: END }),
    activate: false,
  })
  const [trial] = (
    await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscriptionId}`)
  )['data']
  const version = trial.pricing_plan_version_id
  const plan = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`)
  const pricing = plan['pricing_categories'][0].pricings[0]
  const fee = pricing.items.find(({ configs }: Row) => configs[0].pricing_type === 'FIXED')
  const terms = { bands: [{ fixed_amount: { quantity: '6.20', currency: 'EUR' } }] }
  const configs = [{ original_pricing_item_config_id: fee.configs[0].id, ...terms }]
  const items = [{ original_pricing_item_id: fee.id, configs }]
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${trial.id}`, {
    override_pricings: [{ original_pricing_id: pricing.id, items }],
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscriptionId,
    pricing_plan_version_id: version,
    start_at: END,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
  return subscriptionId
}

/** What each invoice charges after runs at these times of 2026, the earliest invoice first. */
async function billed(id: string, times: readonly string[]): Promise<string[]> {
  for (const time of times) {
    api.clock.set(Date.parse(`2026-${time}:00Z`))
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  }
  const url = `/v1/invoices?pricing_plan_subscription_id=${id}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  const issued = data.filter(({ status }) => status === 'FINAL')
  return issued.toSorted((a, b) => (a['invoice_number'] < b['invoice_number'] ? -1 : 1)).flatMap(chargesOf)
}

/** The time of each line, and its amount. */
const chargesOf = ({ periods }: Row): string[] =>
  periods.flatMap(({ start_at, end_at, groups }: Row) =>
    groups.flatMap(({ lines }: Row) =>
      lines.map(
        (line: Row) => `${start_at.slice(0, 10)}..${end_at.slice(0, 10)} ${line['amount_excluding_tax'].quantity}`,
      ),
    ),
  )

test('it is charged ahead when it starts, and the plan when it ends', async () => {
  const id = await paidTrial()
  expect(await billed(id, ['01-01T02:00', '01-02T02:00'])).toEqual(['2026-01-01..2026-01-15 2.80'])
  expect(await billed(id, ['01-15T02:00', '01-16T02:00', '02-01T02:00', '02-02T02:00'])).toEqual([
    '2026-01-01..2026-01-15 2.80',
    '2026-01-15..2026-02-01 17.00',
    '2026-02-01..2026-03-01 31.00',
  ])
})

test('a cancellation at the end of the period ends with the trial, and nothing else is charged', async () => {
  const id = await paidTrial()
  await billed(id, ['01-01T02:00', '01-05T02:00'])
  const cancelled = await post(`pricing-plan-subscriptions/${id}/cancel`, { type: 'NEXT_BILLING_PERIOD' })
  expect(cancelled['inactive_periods']).toMatchObject([{ type: 'CANCEL', start_at: END }])
  expect(await billed(id, ['01-15T02:00', '01-16T02:00', '02-02T02:00'])).toEqual(['2026-01-01..2026-01-15 2.80'])
})

test('a preview shows the trial, and then the plan', async () => {
  const id = await paidTrial()
  const shown = (start_at: string) => post('invoices/preview', { pricing_plan_subscription_id: id, start_at })
  const { first_invoice: first } = await shown('2026-01-01T00:00:00Z')
  expect(chargesOf(first)).toEqual(['2026-01-01..2026-01-15 2.80'])
  const { first_invoice: next } = await shown('2026-01-02T00:00:00Z')
  expect(chargesOf(next)).toEqual(['2026-01-15..2026-02-01 17.00'])
})

test('a trial that is extended after it was charged ahead charges the days that are added', async () => {
  const id = await paidTrial()
  await billed(id, ['01-01T02:00', '01-05T02:00'])
  const { data } = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`)
  const plan = data.find(({ type }: Row) => type === 'DEFAULT')
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${plan.id}?set_previous_end_at=true`, {
    start_at: '2026-01-20T00:00:00Z',
  })
  expect(await billed(id, ['01-15T02:00', '01-20T02:00', '01-21T02:00', '02-01T02:00', '02-02T02:00'])).toEqual([
    '2026-01-01..2026-01-15 2.80',
    '2026-01-15..2026-01-20 1.00',
    '2026-01-20..2026-02-01 12.00',
    '2026-02-01..2026-03-01 31.00',
  ])
})
