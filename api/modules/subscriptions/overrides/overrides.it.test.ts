// Prices of a schedule instead of those of its plan, by the API down to the invoice and its explanation (semantics 4.3).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const MAY = '2026-05-01T00:00:00Z'
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** A subscription with a fee of 10.00 in advance, and a draft schedule of the same version from May on. */
async function drafted() {
  setTime('2026-03-10T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  const version = data[0].pricing_plan_version_id
  const [priced] = await api.sql('select id, items from pricings where pricing_plan_version_id = $1', [version])
  const { id: pricing, items } = priced as { id: string; items: { id: string; configs: [{ id: string }] }[] }
  const draft = await succeed(tenant, 'POST', `${SCHEDULES}?set_previous_end_at=true`, {
    pricing_plan_subscription_id: subscriptionId,
    pricing_plan_version_id: version,
    start_at: MAY,
  })
  const [usage, fee] = items
  if (!usage || !fee) throw new Error('the plan has two items')
  return { subscriptionId, schedule: draft['id'] as string, pricing, usage, fee }
}
type Item = { readonly id: string; readonly configs: readonly [{ id: string }] }

const overriding = (pricing: string, item: Item, terms: object, more: object = {}) => [
  {
    original_pricing_id: pricing,
    items: [
      {
        original_pricing_item_id: item.id,
        configs: [{ original_pricing_item_config_id: item.configs[0].id, ...terms }],
      },
    ],
    ...more,
  },
]
const patch = (schedule: string, body: unknown) => tenant.call('PATCH', `${SCHEDULES}/${schedule}`, body)
const bandsOf = (view: Row): string[] =>
  view['combined_pricing_plan_version'].pricing_categories.flatMap((category: Row) =>
    category['pricings'].flatMap((pricing: Row) =>
      pricing['items'].map((item: Row) => {
        const [{ amount, fixed_amount }] = item['configs'][0].bands
        return (amount ?? fixed_amount).quantity
      }),
    ),
  )

test('one after the other: each change leaves the other overrides, and the combined version has them all', async () => {
  const { schedule, pricing, usage, fee } = await drafted()
  const plain = await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}?include_combined_pricing_plan_version=true`)
  const [unit, lump] = bandsOf(plain)
  expect((await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}`))['combined_pricing_plan_version']).toBeUndefined()
  const first = overriding(pricing, fee, { bands: [{ fixed_amount: eur('8') }] })
  const saved = await patch(schedule, { override_pricings: first, discount: { totals: [{ percentage: '10' }] } })
  expect(saved).toMatchObject({ status: 200, body: { override_pricings: [{ override: 'SPECIFIC', items: [{}] }] } })
  const second = overriding(pricing, usage, { bands: [{ amount: eur('0.01') }] }, { name: 'Deal' })
  const both = await patch(schedule, { override_pricings: second })
  expect(both.body).toMatchObject({
    discount: { totals: [{ percentage: '10' }] },
    override_pricings: [
      { name: 'Deal', items: [{ original_pricing_item_id: fee.id }, { original_pricing_item_id: usage.id }] },
    ],
  })
  const categories = async () => (await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}`))['pricing_categories']
  expect(await categories()).toMatchObject([{ pricings: [{ id: pricing, name: 'Deal' }] }])
  const url = `${SCHEDULES}/${schedule}?include_combined_pricing_plan_version=true`
  const combined = await succeed(tenant, 'GET', url)
  expect(bandsOf(combined)).toEqual(['0.01', '8'])
  const original = (of: Item) => ({
    original_pricing_item_id: of.id,
    override: 'SPECIFIC',
    configs: [{ original_pricing_item_config_id: of.configs[0].id }],
  })
  expect(combined['combined_pricing_plan_version'].pricing_categories[0].pricings).toMatchObject([
    {
      pricing_plan_schedule_id: schedule,
      original_pricing_id: pricing,
      override: 'SPECIFIC',
      items: [original(usage), original(fee)],
    },
  ])
  expect(JSON.stringify(plain['combined_pricing_plan_version'])).not.toContain('original_')
  // Named without terms, the price is that of the plan again.
  await patch(schedule, { override_pricings: overriding(pricing, usage, {}) })
  expect(bandsOf(await succeed(tenant, 'GET', url))).toEqual([unit, '8'])
  const cleared = await patch(schedule, { override_pricings: null })
  expect(cleared.body).toMatchObject({ override_pricings: [], discount: { totals: [{}] } })
  expect(bandsOf(await succeed(tenant, 'GET', url))).toEqual([unit, lump])
  expect(await categories()).toEqual([])
})

test('are what the invoice charges and explains, and copies of the schedule have them', async () => {
  const { subscriptionId, schedule, pricing, fee } = await drafted()
  await patch(schedule, { override_pricings: overriding(pricing, fee, { bands: [{ fixed_amount: eur('8') }] }) })
  expect((await tenant.call('POST', `${SCHEDULES}/${schedule}/activate`)).status).toBe(200)
  expect(await patch(schedule, { override_pricings: [] })).toMatchObject({ status: 200 })
  expect(await patch(schedule, { override_pricings: null })).toMatchObject({
    status: 400,
    body: { field: 'override_pricings' },
  })
  const deps = { database: api.database, usage: NO_USAGE }
  for (const time of ['2026-03-10T00:00:00Z', '2026-04-01T01:00:00Z', '2026-05-01T01:00:00Z', '2026-05-02T00:00:00Z']) {
    setTime(time)
    await runBilling(deps, tenant.tenant, subscriptionId)
  }
  const { data } = await succeed(
    tenant,
    'GET',
    `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true&include_periods=true`,
  )
  // As the fee is charged in advance, the invoice that May begins with has it.
  const lines: [Row, Row][] = data.flatMap((invoice: Row) =>
    invoice['periods'].flatMap((period: Row) =>
      period['groups'].flatMap((group: Row) =>
        group['lines'].map((line: Row) => [invoice, { ...line, start_at: group['start_at'] }]),
      ),
    ),
  )
  const ofMay = lines.find(([, line]) => line['start_at'] === MAY && line['amount_excluding_tax'].quantity !== '0.00')
  if (!ofMay) throw new Error(`no line of May in ${JSON.stringify(lines.map(([, line]) => line['start_at']))}`)
  const [invoice, line] = ofMay
  expect(line['amount_excluding_tax']).toEqual(eur('8.00'))
  const explained = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}/lines/${line['id']}/explanation`)
  expect(explained['price']).toMatchObject({ is_overridden: true, bands: [{ fixed_amount: eur('8') }] })
  const copy = await succeed(tenant, 'POST', `${SCHEDULES}/${schedule}/copy?set_previous_end_at=true`, {
    start_at: '2026-09-01T00:00:00Z',
  })
  expect(copy['override_pricings']).toHaveLength(1)
})

test('follow to another version of the plan, with the type of price they were agreed for', async () => {
  const { schedule, pricing, usage } = await drafted()
  await patch(schedule, { override_pricings: overriding(pricing, usage, { bands: [{ amount: eur('0.01') }] }) })
  const [{ pricing_plan_id: plan, pricing_plan_version_id: version }] = (await api.sql(
    'select pricing_plan_id, pricing_plan_version_id from pricing_plan_schedules where id = $1',
    [schedule],
  )) as [{ pricing_plan_id: string; pricing_plan_version_id: string }]
  const next = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', {
    pricing_plan_id: plan,
    copied_from_pricing_plan_version_id: version,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  const moved = await succeed(tenant, 'POST', `${SCHEDULES}/${schedule}/migrate?set_previous_end_at=true`, {
    pricing_plan_version_id: next['id'],
    start_at: '2026-07-01T00:00:00Z',
  })
  const url = `${SCHEDULES}/${moved['id']}?include_combined_pricing_plan_version=true`
  expect(bandsOf(await succeed(tenant, 'GET', url))).toEqual(['0.01', '10'])
  expect(moved['override_pricings'][0].original_pricing_id).not.toBe(pricing)
})

test('are refused by name where the plan has no such price, and where the price could not be sold', async () => {
  const { schedule, pricing, usage, fee } = await drafted()
  await patch(schedule, { override_pricings: overriding(pricing, usage, { bands: [{ amount: eur('0.01') }] }) })
  const config = 'override_pricings.0.items.0.configs.0'
  const cases: [unknown, string, string?][] = [
    [
      overriding('prcg_0000000000000000000000', fee, {}),
      'override_pricings.0.original_pricing_id',
      'RESOURCE_NOT_FOUND',
    ],
    [[{ original_pricing_id: 'other', items: [] }], 'override_pricings.0.original_pricing_id', 'RESOURCE_NOT_FOUND'],
    [overriding('other', fee, { bands: [] }), 'override_pricings.0.original_pricing_id', 'RESOURCE_NOT_FOUND'],
    [
      overriding(pricing, { ...fee, id: 'other' }, { bands: [{ fixed_amount: eur('1') }] }),
      'override_pricings.0.items.0.original_pricing_item_id',
      'RESOURCE_NOT_FOUND',
    ],
    [
      overriding(pricing, { ...fee, configs: [{ id: 'other' }] }, { bands: [{ fixed_amount: eur('1') }] }),
      `${config}.original_pricing_item_config_id`,
      'RESOURCE_NOT_FOUND',
    ],
    [
      overriding(pricing, fee, { bands: [{ fixed_amount: { quantity: '1', currency: 'USD' } }] }),
      'override_pricings.0.items',
    ],
    [overriding(pricing, fee, { pricing_type: 'TIERED', bands: [{ amount: eur('1') }] }), `${config}.pricing_type`],
    [overriding(pricing, fee, { default_included_volume: { number: '5' } }), `${config}.default_included_volume`],
    [overriding(pricing, fee, { conditions: null }), `${config}.conditions`],
    [overriding(pricing, fee, { billing_period: { type: 'MONTH', value: 1 } }), `${config}.billing_period`],
    [[{ original_pricing_id: pricing, name: 'Deal', items: [] }], 'override_pricings.0.items'],
  ]
  for (const [override_pricings, field, code = 'INVALID_FIELD'] of cases) {
    const answer = await patch(schedule, { override_pricings })
    const status = code === 'RESOURCE_NOT_FOUND' ? 404 : 400
    expect.soft(answer, field).toMatchObject({ status, body: { code, field } })
  }
  const created = await tenant.call('POST', SCHEDULES, {
    pricing_plan_subscription_id: (await drafted()).subscriptionId,
    start_at: '2026-06-01T00:00:00Z',
    pricing_plan_version_id: 'x',
    override_pricings: [{ original_pricing_id: pricing, items: [] }],
  })
  expect(created.status).toBe(404)
})

test('two changes at once: both are there', async () => {
  const { schedule, pricing, usage, fee } = await drafted()
  const answers = await Promise.all([
    patch(schedule, { override_pricings: overriding(pricing, usage, { bands: [{ amount: eur('0.01') }] }) }),
    patch(schedule, { override_pricings: overriding(pricing, fee, { bands: [{ fixed_amount: eur('8') }] }) }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const { override_pricings } = await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}`)
  expect(override_pricings[0].items).toHaveLength(2)
})
