// Calculates the invoices of a version and draws its prices through the API, without storing anything.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { configOf, TIERED } from './testing/tiered.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
})
afterAll(() => api?.close())

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
