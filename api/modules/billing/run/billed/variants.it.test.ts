// Variants of prices by the API, down to the lines of invoices: a plan sold in two currencies, by the month and by the year; which
// price applies, what is refused when it is saved or activated, and that nothing is left to refuse when it is billed (semantics 3.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { type Sales, salesOf } from '../../testing/sales.ts'
import { runBilling } from '../run-billing.ts'

const MONTH = { type: 'MONTH', value: 1 }
const YEAR = { type: 'YEAR', value: 1 }
const QUARTER = { type: 'MONTH', value: 3 }
const FIRST = '2026-03-01T00:00:00Z'

let api: ApiHarness
let tenant: TestTenant
let sales: Sales
let before: number
let entity: string
/** A RECURRING item and a ONE_OFF item that is charged on demand. */
let fee: Row
let pack: Row
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bLive
  sales = salesOf(tenant)
  before = api.clock.now()
  api.clock.set(Date.parse('2026-03-01T01:00:00Z'))
  const { unique } = tenant.seed
  const product = await post('products', { reference: unique('support'), name: 'Support', status: 'ACTIVE' })
  fee = await sales.item(product, 'RECURRING')
  pack = await sales.item(product, 'ONE_OFF')
  entity = await sales.billingEntity()
})
afterAll(async () => {
  api?.clock.set(before)
  await api?.close()
})

const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
const fixed = (quantity: string, currency: string, more: object = {}) => ({
  pricing_type: 'FIXED',
  bands: [{ fixed_amount: { quantity, currency } }],
  ...more,
})
const by = (month: object, year: object) => [
  { billing_period: MONTH, configs: [month] },
  { billing_period: YEAR, configs: [year] },
]
/** 10 EUR a month or 100 a year; 12 USD a month or 120 a year; GBP by the prices in EUR. */
const FEE = {
  pricing_currency_configs: [
    { currency: 'EUR', billing_period_configs: by(fixed('10', 'EUR'), fixed('100', 'EUR')) },
    { currency: 'USD', billing_period_configs: by(fixed('12', 'USD'), fixed('120', 'USD')) },
    { currency: 'GBP', fallback_currency: 'EUR' },
  ],
}
const ON_DEMAND = { on_demand: true }
const PACK = {
  pricing_currency_configs: [
    { currency: 'EUR', configs: [fixed('50', 'EUR', ON_DEMAND)] },
    { currency: 'USD', configs: [fixed('60', 'USD', ON_DEMAND)] },
    { currency: 'GBP', fallback_currency: 'EUR' },
  ],
}

async function newVersion(over: object = {}): Promise<Row> {
  const plan = await post('pricing-plans', { reference: tenant.seed.unique('plan') })
  return await post('pricing-plan-versions', { pricing_plan_id: plan['id'], ...over })
}
const price = (version: Row, ...items: [Row, object][]) =>
  tenant.call('POST', '/v1/pricings', {
    pricing_plan_version_id: version['id'],
    product_ids: [fee['product_id']],
    items: items.map(([item, variants]) => ({ product_item_ids: [item['id']], ...variants })),
  })
const activate = (version: Row) =>
  tenant.call('PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })

/** An ACTIVE version of both items. */
async function sold(...items: [Row, object][]): Promise<Row> {
  const version = await newVersion()
  expect((await price(version, ...items)).status).toBe(201)
  const answer = await activate(version)
  expect(refusal(answer)).toEqual([200, undefined, undefined])
  return answer.body
}

const subscribe = (billing_currency: string, billing_period: object): Promise<Row> =>
  sales.subscription({ billing_entity_id: entity, billing_currency, billing_period, billing_time: 'EXACT' })
const schedule = (subscription: Row, version: Row, more: object = {}) =>
  tenant.call('POST', '/v1/pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at: FIRST,
    ...more,
  })
const start = ({ id }: Row) => tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
async function billedUntil({ id }: Row, time: string): Promise<string[]> {
  const now = api.clock.now()
  api.clock.set(Date.parse(time))
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id as string)
  api.clock.set(now)
  const list = await get(`invoices?pricing_plan_subscription_id=${id}&order_by=created_at&order_direction=ASC`)
  const invoices: Row[] = await Promise.all(list['data'].map((each: Row) => get(`invoices/${each['id']}`)))
  return invoices.flatMap(invoice =>
    (invoice['periods'] as Row[]).flatMap(period =>
      period['groups'].flatMap((group: Row) =>
        group['lines'].map((line: Row) => {
          const { quantity, currency } = line['amount_excluding_tax']
          return `${period['start_at'].slice(0, 10)} ${quantity} ${currency}`
        }),
      ),
    ),
  )
}

describe('a version with variants', () => {
  let version: Row
  beforeAll(async () => {
    version = await sold([fee, FEE], [pack, PACK])
    await post('pricing-plan-groups', {
      reference: tenant.seed.unique('periods'),
      pricing_plan_ids: [version['pricing_plan_id']],
      status: 'ACTIVE',
      upgrade_type: 'IMMEDIATE',
    })
  })

  test('says which currencies and billing periods it is sold in, and so does its plan', async () => {
    expect(version['pricing_currency_settings']).toEqual({
      default_pricing_currency: 'EUR',
      pricing_currencies: ['EUR', 'USD', 'GBP'],
    })
    expect(version['billing_period_settings'].billing_periods.map((each: Row) => each['period'])).toEqual([MONTH, YEAR])
    const plan = await get(`pricing-plans/${version['pricing_plan_id']}`)
    expect(plan['pricing_currencies']).toEqual(['EUR', 'GBP', 'USD'])
    const curve = await get(`pricing-plan-versions/${version['id']}/curve`)
    expect(curve['curves']).toHaveLength(6)
  })

  test.each([
    ['EUR', MONTH, '10.00'],
    ['EUR', YEAR, '100.00'],
    ['USD', MONTH, '12.00'],
    ['USD', { type: 'MONTH', value: 12 }, '120.00'],
  ])('is priced in %s by %o', async (currency, period, amount) => {
    const subscription = await subscribe(currency, period)
    expect((await schedule(subscription, version)).status).toBe(201)
    expect(refusal(await start(subscription))[0]).toBe(200)
    const [first] = await billedUntil(subscription, '2027-03-02T00:00:00Z')
    expect(first).toBe(`2026-03-01 ${amount} ${currency}`)
    const calculated = await post(`pricing-plan-versions/${version['id']}/calculate`, {
      billing_entity_id: entity,
      pricing_currency: currency,
      billing_period: period,
      start_at: FIRST,
    })
    expect(JSON.stringify(calculated)).toContain(`"quantity":"${amount}","currency":"${currency}"`)
  })

  test('is not sold by a billing period or in a currency that it has no price for', async () => {
    expect(refusal(await schedule(await subscribe('EUR', QUARTER), version))).toEqual([
      400,
      'INVALID_FIELD',
      'billing_period',
    ])
    const own = await schedule(await subscribe('EUR', QUARTER), version, { billing_period: YEAR })
    expect(own.status).toBe(201)
    expect(refusal(await schedule(await subscribe('CHF', MONTH), version))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_currency',
    ])
    const calculated = await tenant.call('POST', `/v1/pricing-plan-versions/${version['id']}/calculate`, {
      billing_entity_id: entity,
      billing_period: QUARTER,
    })
    expect(refusal(calculated)).toEqual([400, 'INVALID_FIELD', 'billing_period'])
  })

  test('a fallback is converted at the exchange rate, without which the schedule is not activated', async () => {
    const subscription = await subscribe('GBP', MONTH)
    const discount = { totals: [{ amount: { quantity: '1', currency: 'GBP' } }] }
    expect((await schedule(subscription, version, { discount })).status).toBe(201)
    expect(refusal(await start(subscription))).toEqual([400, 'INVALID_FIELD', 'pricing_currency'])
    const rate = { base_currency: 'EUR', currency: 'GBP', rate: '0.85', rate_timestamp: FIRST, source: 'ECB' }
    await post('exchange-rates', rate)
    expect((await start(subscription)).status).toBe(200)
    const lines = await billedUntil(subscription, '2026-04-02T00:00:00Z')
    expect(lines.slice(0, 2)).toEqual(['2026-03-01 8.50 GBP', '2026-03-01 -1.00 GBP'])
  })

  test('what is fallen back to can be overridden in its own currency', async () => {
    const [pricing] = version['pricing_categories'][0].pricings
    const [item] = pricing.items
    const [config] = item.pricing_currency_configs[0].billing_period_configs[0].configs
    const overriding = (currency: string) => ({
      override_pricings: [
        {
          original_pricing_id: pricing.id,
          items: [
            {
              original_pricing_item_id: item.id,
              configs: [
                { original_pricing_item_config_id: config.id, bands: [{ fixed_amount: { quantity: '4', currency } }] },
              ],
            },
          ],
        },
      ],
    })
    const subscription = await subscribe('GBP', MONTH)
    expect(refusal(await schedule(subscription, version, overriding('GBP')))[0]).toBe(400)
    expect((await schedule(subscription, version, overriding('EUR'))).status).toBe(201)
    expect((await start(subscription)).status).toBe(200)
    expect((await billedUntil(subscription, '2026-04-02T00:00:00Z'))[0]).toBe('2026-03-01 3.40 GBP')
  })

  test('a subscription whose billing period changes while it is DRAFT is judged again when it is activated', async () => {
    const subscription = await subscribe('EUR', MONTH)
    await schedule(subscription, version)
    const url = `/v1/pricing-plan-subscriptions/${subscription['id']}`
    await succeed(tenant, 'PATCH', url, { billing_period: QUARTER })
    expect(refusal(await start(subscription))).toEqual([400, 'INVALID_FIELD', 'billing_period'])
    await succeed(tenant, 'PATCH', url, { billing_period: YEAR })
    expect((await start(subscription)).status).toBe(200)
  })

  test('change-plan moves a subscription between the billing periods of its plan', async () => {
    const pricing_plan_id = version['pricing_plan_id']
    const subscription = await subscribe('USD', MONTH)
    await schedule(subscription, version)
    await start(subscription)
    const change = (billing_period: object) =>
      tenant.call('POST', `/v1/pricing-plan-subscriptions/${subscription['id']}/change-plan`, {
        pricing_plan_id,
        billing_period,
        start_at: '2026-04-01T00:00:00Z',
      })
    expect(refusal(await change(QUARTER))).toEqual([400, 'INVALID_FIELD', 'billing_period'])
    expect((await change(YEAR)).status).toBe(201)
    const lines = await billedUntil(subscription, '2027-04-02T00:00:00Z')
    expect(lines).toContain('2026-03-01 12.00 USD')
    // Until its anniversary: 334 of 365 days.
    expect(lines).toContain('2026-04-01 109.81 USD')
  })

  test('shows on demand, and lets clauses name, only the prices of the variant that applies', async () => {
    const subscription = await subscribe('USD', YEAR)
    const { pricings } = version['pricing_categories'][0]
    const [recurring] = pricings[0].items
    const [euro, dollar] = recurring.pricing_currency_configs.map(
      (entry: Row) => entry['billing_period_configs']?.[1].configs[0].id,
    )
    const discount = (id: string) => ({ discount: { pricing_item_configs: [{ ids: [id], percentage: '50' }] } })
    expect(refusal(await schedule(subscription, version, discount(euro)))[0]).toBe(404)
    const made = await schedule(subscription, version, discount(dollar))
    expect(made.status).toBe(201)
    await start(subscription)
    const { pricing_categories } = await get(`pricing-plan-schedules/${made.body['id']}/on-demand-pricing-items`)
    const [{ items }] = pricing_categories[0].pricings
    expect(items.map((item: Row) => item['configs'].map((each: Row) => each['bands'][0].fixed_amount))).toEqual([
      [{ quantity: '60', currency: 'USD' }],
    ])
    const charged = await post('invoices/charge-on-demand-pricing-items', {
      pricing_plan_schedule_id: made.body['id'],
      pricing_items: [{ pricing_item_id: items[0].id }],
      preview: true,
    })
    expect(JSON.stringify(charged)).toContain('"quantity":"60.00","currency":"USD"')
    const lines = await billedUntil(subscription, '2027-03-02T00:00:00Z')
    expect(lines.slice(0, 2)).toEqual(['2026-03-01 120.00 USD', '2026-03-01 -60.00 USD'])
  })

  test('is copied with all variants and its settings, under new ids', async () => {
    const copy = await post('pricing-plan-versions', {
      pricing_plan_id: version['pricing_plan_id'],
      copied_from_pricing_plan_version_id: version['id'],
    })
    expect(copy['pricing_currency_settings']).toEqual(version['pricing_currency_settings'])
    const [pricing] = copy['pricing_categories'][0].pricings
    expect(pricing.items[0].pricing_currency_configs.map((entry: Row) => entry['currency'])).toEqual([
      'EUR',
      'USD',
      'GBP',
    ])
    const ids = (row: Row): string[] => JSON.stringify(row).match(/pico_[a-z0-9]+/gi) ?? []
    expect(ids(copy).filter(id => ids(version).includes(id))).toEqual([])
  })
})

describe('refused when it is saved', () => {
  test.each([
    ['configs and variants', { configs: [fixed('1', 'EUR')], ...FEE }, 'items.0.pricing_currency_configs'],
    [
      'a price in another currency than its variant',
      { pricing_currency_configs: [{ currency: 'USD', configs: [fixed('1', 'EUR')] }] },
      'items.0.pricing_currency_configs.0.configs.0.bands.0.fixed_amount.currency',
    ],
    [
      'a fallback without prices',
      { pricing_currency_configs: [{ currency: 'USD', fallback_currency: 'EUR' }] },
      'items.0.pricing_currency_configs.0.fallback_currency',
    ],
    [
      'a contradiction in a variant',
      { billing_period_configs: [{ billing_period: YEAR, configs: [{ pricing_type: 'FIXED', bands: [{}, {}] }] }] },
      'items.0.billing_period_configs.0.configs.0.bands',
    ],
  ])('%s', async (_name, variants, field) => {
    expect(refusal(await price(await newVersion(), [fee, variants]))).toEqual([400, 'INVALID_FIELD', field])
  })

  test('a default currency that is not listed', async () => {
    const { body: plan } = await tenant.call('POST', '/v1/pricing-plans', { reference: tenant.seed.unique('plan') })
    const answer = await tenant.call('POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: plan['id'],
      pricing_currency_settings: { default_pricing_currency: 'USD', pricing_currencies: ['EUR'] },
    })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'pricing_currency_settings.default_pricing_currency'])
  })
})

describe('refused when it is activated', () => {
  test('a price that lacks a currency which others have', async () => {
    const version = await newVersion()
    expect((await price(version, [fee, FEE], [pack, { configs: [fixed('1', 'EUR')] }])).status).toBe(201)
    expect(refusal(await activate(version))).toEqual([400, 'INVALID_OPERATION', 'status'])
  })

  test('a currency, or a billing period, that the settings list and no price is for', async () => {
    const settings = (over: object) => newVersion(over)
    const only = { billing_period_configs: by(fixed('1', 'EUR'), fixed('9', 'EUR')) }
    const currencies = await settings({ pricing_currency_settings: { pricing_currencies: ['EUR', 'SEK'] } })
    const periods = await settings({ billing_period_settings: { billing_periods: [{ period: QUARTER }] } })
    const fits = await settings({
      pricing_currency_settings: { pricing_currencies: ['EUR'] },
      billing_period_settings: {
        billing_periods: [{ period: YEAR, description: 'Two months free' }, { period: MONTH }],
      },
    })
    for (const version of [currencies, periods, fits]) expect((await price(version, [fee, only])).status).toBe(201)
    expect(refusal(await activate(currencies))).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(refusal(await activate(periods))).toEqual([400, 'INVALID_OPERATION', 'status'])
    const active = await activate(fits)
    expect(active.body['billing_period_settings'].billing_periods[0]).toEqual({
      period: YEAR,
      description: 'Two months free',
    })
    const changed = await tenant.call('PATCH', `/v1/pricing-plan-versions/${fits['id']}`, {
      pricing_currency_settings: { pricing_currencies: ['USD'] },
    })
    expect(changed.status).toBe(400)
  })
})
