// Calculates prices and curves through the API: with the code and the figures of billing, and without storing anything.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, FLAT, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
})
afterAll(() => api?.close())

const TIERED = {
  pricing_type: 'TIERED',
  bands: [
    { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
    { amount: eur('0.08'), tier_top_bound: { number: '10000' } },
    { amount: eur('0.05') },
  ],
}
const calculate = (body: object) => a.call('POST', '/v1/prices/calculate', body)
const configOf = (pricing: Row) => (pricing['items'] as { configs: Row[] }[])[0]?.configs[0]?.['id']

describe('a price that is sent', () => {
  test('is explained band by band, and rounded beside the exact amount', async () => {
    const { status, body } = await calculate({
      pricing_item_config: { ...TIERED, default_included_volume: { number: '1000' } },
      meter_values: [{ number: '12001.5' }, { number: '0' }],
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ object_type: 'PRICE_CALCULATION', pricing_type: 'TIERED', pricing_currency: 'EUR' })
    expect(body['calculations'][0]).toEqual({
      meter_value: { type: 'NUMBER', number: '12001.5', count: '0' },
      billable_meter_value: { type: 'NUMBER', number: '11001.5', count: '0' },
      amount: eur('870.075'),
      rounded_amount: eur('870.08'),
      rollover_number: '0',
      description: '1000 × 0.1 EUR; 9000 × 0.08 EUR; 1001.5 × 0.05 EUR, 1000 of 12001.5 included',
      bands: [
        {
          band: { amount: eur('0.1'), tier_lower_bound: { number: '0' }, tier_top_bound: { number: '1000' } },
          meter_value: { type: 'NUMBER', number: '1000', count: '0' },
          amount: eur('100'),
          description: '1000 × 0.1 EUR',
        },
        {
          band: { amount: eur('0.08'), tier_lower_bound: { number: '1000' }, tier_top_bound: { number: '10000' } },
          meter_value: { type: 'NUMBER', number: '9000', count: '0' },
          amount: eur('720'),
          description: '9000 × 0.08 EUR',
        },
        {
          band: { amount: eur('0.05'), tier_lower_bound: { number: '10000' } },
          meter_value: { type: 'NUMBER', number: '1001.5', count: '0' },
          amount: eur('50.075'),
          description: '1001.5 × 0.05 EUR',
        },
      ],
    })
    expect(body['calculations'][1]).toMatchObject({ amount: eur('0'), rounded_amount: eur('0') })
  })

  test.each([
    [
      'money',
      { pricing_type: 'FLAT', bands: [{ percentage: '1.4', amount: eur('0.25') }] },
      { amount: eur('3000'), count: '12' },
      '45',
    ],
    [
      'a limit',
      { pricing_type: 'FLAT', bands: [{ amount: eur('1'), minimum_amount: eur('10') }] },
      { number: '3' },
      '10',
    ],
    [
      'blocks that were left',
      {
        pricing_type: 'FLAT_TOP_UP',
        bands: [{ amount: eur('10'), block_size: { number: '1000' } }],
        top_up: { rollover: true },
      },
      { number: '1200', rollover_number: '550' },
      '10',
    ],
    [
      'another metric',
      { pricing_type: 'TOP_TIERED', bands: TIERED.bands },
      { number: '10', tiering_number: '5000' },
      '0.8',
    ],
    [
      'the number of events',
      {
        pricing_type: 'TIERED',
        bands: [
          { percentage: '2', tier_top_bound: { count: '100' } },
          { percentage: '1', amount: eur('0.10') },
        ],
      },
      { amount: eur('5000'), count: '200' },
      '85',
    ],
    [
      'parts of metered money',
      { pricing_type: 'FLAT', bands: [{ amount: eur('0.30'), block_size: { amount: eur('100') } }] },
      { amount: eur('250') },
      '0.75',
    ],
    [
      'steps',
      {
        pricing_type: 'STAIR_STEP',
        step_accumulation: 'STEPS_REACHED',
        bands: [{ fixed_amount: eur('25'), tier_top_bound: { number: '100' } }, { fixed_amount: eur('20') }],
      },
      { number: '200' },
      '45',
    ],
    [
      'each event',
      { pricing_type: 'FLAT', rate_per: 'EVENT', bands: [{ percentage: '1', maximum_amount: eur('5') }] },
      { amount: eur('4000'), count: '4' },
      '20',
    ],
    [
      'no event, and so no minimum',
      { pricing_type: 'FLAT', rate_per: 'EVENT', bands: [{ percentage: '1', minimum_amount: eur('5') }] },
      { amount: eur('0'), count: '0' },
      '0',
    ],
    ['a chosen amount', { pricing_type: 'FLEXIBLE', bands: [{ minimum_amount: eur('5') }] }, { number: '7' }, '7'],
  ])('%s', async (_name, pricing_item_config, quantity, cost) => {
    const value_type = 'amount' in quantity ? 'AMOUNT' : 'NUMBER'
    const { body } = await calculate({ pricing_item_config, value_type, meter_values: [quantity] })
    expect(body['calculations'][0].amount).toEqual(eur(cost))
  })

  test('of the same whatever the usage needs none', async () => {
    const { body } = await calculate({
      pricing_item_config: { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('20') }] },
    })
    expect(body['calculations']).toMatchObject([{ amount: eur('20'), description: 'fixed 20 EUR' }])
  })

  test.each<[string, object, number, string, string]>([
    ['nothing to price', {}, 400, 'MISSING_FIELD', 'pricing_item_config_id'],
    [
      'two prices',
      { pricing_item_config_id: 'pico_1', pricing_item_config: FLAT },
      400,
      'INVALID_FIELD',
      'pricing_item_config',
    ],
    [
      'a price that does not exist',
      { pricing_item_config_id: 'pico_1', meter_values: [{ number: '1' }] },
      404,
      'RESOURCE_NOT_FOUND',
      'pricing_item_config_id',
    ],
    ['no quantity', { pricing_item_config: FLAT }, 400, 'MISSING_FIELD', 'meter_values'],
    ['an empty one', { pricing_item_config: FLAT, meter_values: [{}] }, 400, 'MISSING_FIELD', 'meter_values.0.number'],
    [
      'money for numbers',
      { pricing_item_config: FLAT, meter_values: [{ amount: eur('1') }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.amount',
    ],
    [
      'other money',
      {
        pricing_item_config: FLAT,
        value_type: 'AMOUNT',
        meter_values: [{ amount: { quantity: '1', currency: 'USD' } }],
      },
      400,
      'INVALID_FIELD',
      'meter_values.0.amount.currency',
    ],
    [
      'events below none',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', count: '-1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.count',
    ],
    [
      'a tier without tiers',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', tiering_number: '1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.tiering_number',
    ],
    [
      'a rest that is not kept',
      { pricing_item_config: FLAT, meter_values: [{ number: '1', rollover_number: '1' }] },
      400,
      'INVALID_FIELD',
      'meter_values.0.rollover_number',
    ],
    [
      'a chosen amount too low',
      {
        pricing_item_config: { pricing_type: 'FLEXIBLE', bands: [{ minimum_amount: eur('5') }] },
        meter_values: [{ number: '4' }],
      },
      400,
      'INVALID_FIELD',
      'meter_values.0.number',
    ],
    [
      'another currency',
      { pricing_item_config: FLAT, pricing_currency: 'USD', meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.bands.0.amount.currency',
    ],
    [
      'bands that fall',
      { pricing_item_config: { ...TIERED, bands: TIERED.bands.toReversed() }, meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.bands.0.tier_top_bound',
    ],
    [
      'events that are not said',
      {
        pricing_item_config: {
          pricing_type: 'TIERED',
          bands: [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('2') }],
        },
        meter_values: [{ number: '1' }],
      },
      400,
      'MISSING_FIELD',
      'meter_values.0.count',
    ],
    [
      'a group',
      { pricing_item_config: { ...TIERED, volume_group_reference: 'x' }, meter_values: [{ number: '1' }] },
      400,
      'INVALID_FIELD',
      'pricing_item_config.volume_group_reference',
    ],
    [
      'no price in it',
      { pricing_item_config: { pricing_type: 'FLAT', bands: [{}] }, meter_values: [{ number: '1' }] },
      400,
      'MISSING_FIELD',
      'pricing_item_config.bands.0.amount',
    ],
  ])('%s is refused', async (_name, body, status, code, field) => {
    expect(refusal(await calculate(body))).toEqual([status, code, field])
  })
})

test('a stored price is calculated by its id, for its own tenant only, and nothing is saved', async () => {
  const { answer } = await catalog.draft(TIERED)
  const id = configOf(answer.body)
  const before = await api.sql('select count(*)::int as n from outbox')
  const { body } = await calculate({ pricing_item_config_id: id, meter_values: [{ number: '5000' }] })
  expect(body['calculations'][0]).toMatchObject({ amount: eur('420') })
  expect(await api.sql('select count(*)::int as n from outbox')).toEqual(before)
  const stranger = await api.tenants.bLive.call('POST', '/v1/prices/calculate', {
    pricing_item_config_id: id,
    meter_values: [{ number: '1' }],
  })
  expect(refusal(stranger)).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_item_config_id'])
})

describe('a version', () => {
  let version: Row
  let usage: unknown
  let fee: unknown
  let entity: Row
  beforeAll(async () => {
    version = await a.seed.make(pricingPlanVersionResource)
    const item = await a.seed.make(productItemResource)
    usage = configOf((await catalog.price(item, TIERED, version)).body)
    const recurring = await catalog.itemOf({ model_type: 'RECURRING' })
    const lump = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('100') }], billing_in_advance: true }
    fee = configOf((await catalog.price(recurring, lump, version)).body)
    const created = await a.call('POST', '/v1/billing-entities', {
      reference: a.seed.unique('seller'),
      legal_name: 'Seller',
      registered_address: { country: 'NL' },
    })
    entity = created.status === 201 ? created.body : await a.seed.make(billingEntityResource)
  })
  const url = (path: string) => `/v1/pricing-plan-versions/${version['id']}/${path}`
  const bill = (body: object) => a.call('POST', url('calculate'), { billing_entity_id: entity['id'], ...body })

  test('is billed as two invoices: what is paid ahead, and the usage of the period', async () => {
    const { status, body } = await bill({
      start_at: '2026-03-11T00:00:00Z',
      customer: { country: 'NL', type: 'INDIVIDUAL' },
      meter_values: [{ pricing_item_config_id: usage, number: '5000' }],
    })
    expect(status).toBe(200)
    const [ahead, arrears, ...more] = body['invoices']
    expect(more).toEqual([])
    expect(ahead).toMatchObject({
      invoice_amount_excluding_tax: eur('100.00'),
      invoice_amount_including_tax: eur('121.00'),
    })
    expect(arrears).toMatchObject({
      invoice_amount_excluding_tax: eur('420.00'),
      invoice_amount_including_tax: eur('508.20'),
    })
    expect(arrears.periods[0].groups[0].lines[0].sub_lines).toHaveLength(2)
    const quarter = await bill({ billing_period: { type: 'MONTH', value: 3 }, customer: { country: 'NL' } })
    expect(quarter.body['invoices'][0]).toMatchObject({ invoice_amount_excluding_tax: eur('100.00') })
  })

  test('is billed in a currency that falls back to another, at the exchange rate of the day', async () => {
    const sold = await a.seed.make(pricingPlanVersionResource)
    const item = await catalog.itemOf({ model_type: 'RECURRING' })
    const fee = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('100') }] }
    const made = await a.call('POST', '/v1/pricings', {
      pricing_plan_version_id: sold['id'],
      product_ids: [item['product_id']],
      items: [
        {
          product_item_ids: [item['id']],
          pricing_currency_configs: [
            { currency: 'EUR', configs: [fee] },
            { currency: 'ISK', fallback_currency: 'EUR' },
          ],
        },
      ],
    })
    expect(made.status).toBe(201)
    const inKronur = () =>
      a.call('POST', `/v1/pricing-plan-versions/${sold['id']}/calculate`, {
        billing_entity_id: entity['id'],
        pricing_currency: 'ISK',
        start_at: '2026-03-01T00:00:00Z',
        customer: { country: 'NL' },
      })
    expect(refusal(await inKronur())).toEqual([400, 'INVALID_OPERATION', 'billing_currency'])
    const rate = await a.call('POST', '/v1/exchange-rates', {
      base_currency: 'EUR',
      currency: 'ISK',
      rate: '150',
      rate_timestamp: '2026-03-02T00:00:00Z',
      source: 'bank',
    })
    expect(rate.status).toBe(201)
    const { body } = await inKronur()
    expect(body['invoices']).toMatchObject([{ invoice_amount_excluding_tax: { quantity: '15000', currency: 'ISK' } }])
  })

  test.each<[string, () => object, number, string, string]>([
    [
      'a price it does not have',
      () => ({ meter_values: [{ pricing_item_config_id: 'pico_1', number: '1' }] }),
      404,
      'RESOURCE_NOT_FOUND',
      'meter_values.0.pricing_item_config_id',
    ],
    [
      'a quantity of a fee',
      () => ({ meter_values: [{ pricing_item_config_id: fee, number: '1' }] }),
      400,
      'INVALID_FIELD',
      'meter_values.0.pricing_item_config_id',
    ],
    [
      'money for numbers',
      () => ({ meter_values: [{ pricing_item_config_id: usage, amount: eur('1') }] }),
      400,
      'INVALID_FIELD',
      'meter_values.0.amount',
    ],
    [
      'no quantity',
      () => ({ meter_values: [{ pricing_item_config_id: usage }] }),
      400,
      'MISSING_FIELD',
      'meter_values.0.number',
    ],
    [
      'half an event',
      () => ({ meter_values: [{ pricing_item_config_id: usage, number: '1', count: '0.5' }] }),
      400,
      'INVALID_FIELD',
      'meter_values.0.count',
    ],
    [
      'one price twice',
      () => ({
        meter_values: [
          { pricing_item_config_id: usage, number: '1' },
          { pricing_item_config_id: usage, number: '1' },
        ],
      }),
      400,
      'INVALID_FIELD',
      'meter_values.1.pricing_item_config_id',
    ],
    [
      'a seller that does not exist',
      () => ({ billing_entity_id: 'bent_1' }),
      404,
      'RESOURCE_NOT_FOUND',
      'billing_entity_id',
    ],
    ['no country', () => ({ customer: { type: 'INDIVIDUAL' } }), 400, 'MISSING_FIELD', 'customer.country'],
  ])('%s is refused', async (_name, body, status, code, field) => {
    expect(refusal(await bill(body()))).toEqual([status, code, field])
  })

  test('is drawn: straight pieces, steps and limits', async () => {
    const { body } = await a.call('GET', url('curve?to=12000'))
    expect(body).toMatchObject({ object_type: 'PRICING_PLAN_VERSION_CURVE', pricing_plan_version_id: version['id'] })
    const drawn = (body['curves'] as Row[]).find(curve => curve['pricing_item_config_id'] === usage)
    expect(drawn?.['pieces']).toEqual([
      {
        from: { number: '0', charge: eur('0') },
        to: { number: '1000', charge: eur('100') },
        kind: 'LINE',
        bands: [0],
        price_bounds: [],
      },
      {
        from: { number: '1000', charge: eur('100') },
        to: { number: '10000', charge: eur('820') },
        kind: 'LINE',
        bands: [0, 1],
        price_bounds: [],
      },
      {
        from: { number: '10000', charge: eur('820') },
        to: { number: '12000', charge: eur('920') },
        kind: 'LINE',
        bands: [0, 1, 2],
        price_bounds: [],
      },
    ])
    const one = await a.call('GET', url(`curve?pricing_item_config_id=${fee}`))
    expect(one.body['curves']).toHaveLength(1)
    expect(refusal(await a.call('GET', url('curve?to=0')))).toEqual([400, 'INVALID_FIELD', 'to'])
    expect(refusal(await a.call('GET', url('curve?count=-1')))).toEqual([400, 'INVALID_FIELD', 'count'])
    expect(refusal(await a.call('GET', url('curve?pricing_item_config_id=pico_1')))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'pricing_item_config_id',
    ])
    const foreign = await api.tenants.bLive.call('GET', url('curve'))
    expect(foreign.status).toBe(404)
  })
})
