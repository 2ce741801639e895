// Markups and minimums of a schedule through the API: invoices charge them, closed periods keep theirs, and
// contradictory ones are refused.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

const usage = NO_USAGE
let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aTest
})
afterAll(() => api.close())

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const SCHEDULES = '/v1/pricing-plan-schedules'

/** A subscription from 1 March 2026 with a fee of 10.00 a month in advance, its schedule, and the ids of its prices. */
async function subscribed() {
  setTime('2026-03-10T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  const schedule: Row = data[0]
  const version = schedule['pricing_plan_version_id']
  const [priced] = await api.sql('select id, items from pricings where pricing_plan_version_id = $1', [version])
  const { id: pricing, items } = priced as { id: string; items: { id: string; configs: [{ id: string }] }[] }
  const [metered = '', fee = ''] = items.map(({ configs: [config] }) => config.id)
  return { subscriptionId, schedule, pricing, metered, fee, meteredItem: items[0]?.id ?? '' }
}
const patch = (schedule: Row, body: unknown) => tenant.call('PATCH', `${SCHEDULES}/${schedule['id']}`, body)

test('are on the invoice of each period, and one that is FINAL keeps its own', async () => {
  const { subscriptionId, schedule, pricing, fee } = await subscribed()
  const commitment = { pricings: [{ ids: [pricing], amount: eur('100.00') }], totals: [{ amount: eur('150.00') }] }
  const markup = { pricing_item_configs: [{ ids: [fee], percentage: '50' }] }
  expect(await patch(schedule, { commitment, markup })).toMatchObject({ status: 200, body: { commitment, markup } })
  const deps = { database: api.database, usage }
  for (const time of ['2026-03-10T00:00:00Z', '2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z']) {
    setTime(time)
    await runBilling(deps, tenant.tenant, subscriptionId)
  }
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true&statuses[]=FINAL`
  const { data } = await succeed(tenant, 'GET', url)
  const march = data.find(({ periods }: Row) => periods.length > 1)
  const lines = march.periods.flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
  // 15.00 for March were charged ahead; 15.00 for April are on this invoice.
  expect(lines.map((line: Row) => [line['type'], line['clause'], line['amount_excluding_tax'].quantity])).toEqual([
    ['COMMITMENT', 'commitment.pricings.0', '85.00'],
    ['COMMITMENT', 'commitment.totals.0', '50.00'],
    ['REVENUE', undefined, '10.00'],
    ['MARKUP', 'markup.pricing_item_configs.0', '5.00'],
  ])
  expect(await tenant.call('POST', `/v1/invoices/${march.id}/verify`)).toMatchObject({ body: { identical: true } })
  const explained = await succeed(tenant, 'GET', `/v1/invoices/${march.id}/lines/${lines[1].id}/explanation`)
  expect(explained['steps'].at(-1)).toMatchObject({ step: 'INVOICE_COMMITMENT', clause: 'commitment.totals.0' })
  expect(await patch(schedule, { commitment: null })).toMatchObject({
    status: 400,
    body: { field: 'commitment.pricings', message: expect.stringContaining('FINAL') },
  })
  const ended = { pricings: [{ ids: [pricing], amount: eur('100.00'), end_at: '2026-04-15T00:00:00Z' }] }
  expect(await patch(schedule, { commitment: { ...commitment, ...ended } })).toMatchObject({ status: 200 })
})

test('are refused where they say nothing, two things, or what the plan does not sell', async () => {
  const { schedule, pricing, metered, fee } = await subscribed()
  const onConfig = (of: object) => ({ commitment: { pricing_item_configs: [{ ids: [metered], ...of }] } })
  const refused: [body: object, field: string, code: string][] = [
    [onConfig({}), 'commitment.pricing_item_configs.0.meter_value_calculation', 'MISSING_FIELD'],
    [
      onConfig({ amount: eur('1'), meter_value_calculation: { number: '1' } }),
      'commitment.pricing_item_configs.0.amount',
      'INVALID_FIELD',
    ],
    [onConfig({ amount: eur('0') }), 'commitment.pricing_item_configs.0.amount.quantity', 'INVALID_FIELD'],
    [
      onConfig({ amount: { quantity: '1', currency: 'USD' } }),
      'commitment.pricing_item_configs.0.amount.currency',
      'INVALID_FIELD',
    ],
    [
      onConfig({ meter_value_calculation: {} }),
      'commitment.pricing_item_configs.0.meter_value_calculation.number',
      'MISSING_FIELD',
    ],
    [
      onConfig({ ids: [fee], meter_value_calculation: { number: '5' } }),
      'commitment.pricing_item_configs.0.ids.0',
      'INVALID_FIELD',
    ],
    [
      onConfig({ ids: [metered, fee], meter_value_calculation: { number: '5' } }),
      'commitment.pricing_item_configs.0.meter_value_calculation',
      'INVALID_FIELD',
    ],
    [{ commitment: { pricings: [{ ids: [pricing] }] } }, 'commitment.pricings.0.amount', 'MISSING_FIELD'],
    [
      { commitment: { pricings: [{ ids: ['pric_none'], amount: eur('1') }] } },
      'commitment.pricings.0.ids.0',
      'RESOURCE_NOT_FOUND',
    ],
    [
      {
        commitment: {
          totals: [{ amount: eur('1'), start_at: '2026-05-01T00:00:00Z', end_at: '2026-04-01T00:00:00Z' }],
        },
      },
      'commitment.totals.0.end_at',
      'INVALID_FIELD',
    ],
    [
      { markup: { pricing_item_configs: [{ ids: [fee], percentage: '-1' }] } },
      'markup.pricing_item_configs.0.percentage',
      'INVALID_FIELD',
    ],
    [
      { markup: { pricing_item_configs: [{ ids: [fee] }] } },
      'markup.pricing_item_configs.0.percentage',
      'MISSING_FIELD',
    ],
  ]
  for (const [body, field, code] of refused)
    expect((await patch(schedule, body)).body, field).toMatchObject({ field, code })
})

test('of units are refused where the number of events decides on the tier', async () => {
  const { subscriptionId, schedule, pricing, metered, meteredItem } = await subscribed()
  const bands = [{ amount: eur('1'), tier_top_bound: { count: '9' } }, { amount: eur('2') }]
  const config = { original_pricing_item_config_id: metered, pricing_type: 'TIERED', bands }
  const items = [{ original_pricing_item_id: meteredItem, configs: [config] }]
  const later = (value: object) =>
    tenant.call('POST', `${SCHEDULES}?set_previous_end_at=true`, {
      pricing_plan_subscription_id: subscriptionId,
      pricing_plan_version_id: schedule['pricing_plan_version_id'],
      start_at: '2026-05-01T00:00:00Z',
      override_pricings: [{ original_pricing_id: pricing, items }],
      commitment: { pricing_item_configs: [{ ids: [metered], ...value }] },
    })
  expect(await later({ meter_value_calculation: { number: '5' } })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_FIELD', field: 'commitment.pricing_item_configs.0.ids.0' },
  })
  expect(await later({ amount: eur('5') })).toMatchObject({ status: 201 })
})
