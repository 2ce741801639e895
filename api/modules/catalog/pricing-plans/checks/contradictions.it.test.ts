// Contradictions on the wire, and those that take a database to see. All others are in contradictions.test.ts, in one table.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, FLAT, refusal } from '../../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { creditTypeResource } from '../../credit-types/credit-type.ts'
import { productItemResource, productResource } from '../../products/product.ts'
import { pricingPlanVersionResource } from '../pricing-plan-version.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
const items: Record<string, Row> = {}
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
  items['usage'] = await a.seed.make(productItemResource)
  items['once'] = await catalog.itemOf({ model_type: 'ONE_OFF' })
})
afterAll(() => api?.close())

const tiers = (...bounds: (string | null)[]) => ({
  pricing_type: 'TIERED',
  bands: bounds.map(number => ({ amount: eur('1'), ...(number === null ? {} : { tier_top_bound: { number } }) })),
})
const band = (given: object) => ({ ...FLAT, bands: [given] })
const MONTH = { type: 'MONTH', value: 1 }
const YEAR = { type: 'YEAR', value: 1 }
const INVALID = 'INVALID_FIELD'

describe('a price is refused by the field that is wrong:', () => {
  const cases: readonly [string, keyof typeof items, object, string, string][] = [
    ['tiers that do not rise', 'usage', tiers('1000', '999', null), INVALID, 'bands.1.tier_top_bound'],
    [
      'credits beside money',
      'usage',
      band({ amount: eur('1'), credits: { quantity: '1', credit_type_id: 'ctyp_1' } }),
      INVALID,
      'bands.0.amount',
    ],
    ['a band that charges nothing', 'usage', band({}), 'MISSING_FIELD', 'bands.0.amount'],
    [
      'a pricing period wider than the billing period',
      'usage',
      { ...FLAT, pricing_period: YEAR, billing_period: MONTH },
      INVALID,
      'pricing_period',
    ],
    ['units in money', 'once', { ...FLAT, default_units: { amount: eur('1') } }, INVALID, 'default_units.amount'],
  ]
  test.each(cases)('%s', async (_name, item, config, code, field) => {
    const answer = await catalog.price(items[item] ?? {}, config)
    expect([answer.status, answer.body['code']]).toEqual([400, code])
    expect(String(answer.body['field'])).toContain(`items.0.configs.0.${field}`)
  })
})

test('a condition on a property that events may leave out', async () => {
  const reference = a.seed.unique('region')
  const make = async (path: string, body: object): Promise<Row> => {
    const { status, body: made } = await a.call('POST', `/v1/${path}`, { status: 'ACTIVE', ...body })
    expect(status).toBe(201)
    return made
  }
  const value = await make('meter-values', { reference, name: 'Calls', type: 'NUMBER' })
  const property = await make('meter-properties', { reference, name: 'Region', type: 'STRING' })
  const meter = await make('meters', {
    reference,
    meter_values: [{ id: value['id'], required: true }],
    meter_properties: [{ id: property['id'], required: false }],
  })
  const { body: calculation } = await a.call('POST', '/v1/meter-value-calculations', {
    reference,
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: value['id'],
  })
  const item = await catalog.itemOf({
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: calculation['id'] },
  })
  const test = { id: property['id'], comparator: 'EQUALS', value: 'eu' }
  const answer = await catalog.price(item, { ...FLAT, conditions: { meter_properties: [test] } })
  expect([answer.status, answer.body['code']]).toEqual([400, INVALID])
  expect(String(answer.body['field'])).toContain('items.0.configs.0.conditions.meter_properties.0')
})

test('ids of another tenant are as if they were not there', async () => {
  const b = api.tenants.bLive
  const [version, item, product] = [
    await b.seed.make(pricingPlanVersionResource),
    await b.seed.make(productItemResource),
    await b.seed.make(productResource),
  ]
  const own = await a.seed.make(pricingPlanVersionResource)
  const mine = items['usage'] ?? {}
  const post = async (pricing_plan_version_id: unknown, product_ids: unknown[], id: unknown) =>
    refusal(
      await a.call('POST', '/v1/pricings', {
        pricing_plan_version_id,
        product_ids,
        items: [{ product_item_ids: [id], configs: [FLAT] }],
      }),
    )
  const gone = (field: string) => [404, 'RESOURCE_NOT_FOUND', field]
  expect(await post(version.id, [mine['product_id']], mine['id'])).toEqual(gone('pricing_plan_version_id'))
  expect(await post(own.id, [product.id], mine['id'])).toEqual(gone('product_ids.0'))
  expect(await post(own.id, [mine['product_id']], item.id)).toEqual(gone('items.0.product_item_ids.0'))
  const credits = async (credit_type_id: string) =>
    refusal(await catalog.price(mine, band({ credits: { quantity: '1', credit_type_id } })))
  const inCredits = 'items.0.configs.0.bands.0.credits.credit_type_id'
  expect(await credits((await b.seed.make(creditTypeResource)).id)).toEqual(gone(inCredits))
  const copied = await a.call('POST', '/v1/pricing-plan-versions', {
    pricing_plan_id: own.pricing_plan_id,
    copied_from_pricing_plan_version_id: version.id,
  })
  expect(refusal(copied)).toEqual(gone('copied_from_pricing_plan_version_id'))
})

test('credits of a type that is ARCHIVED, unless the price was in them before', async () => {
  const { id } = await a.seed.make(creditTypeResource)
  const item = items['usage'] ?? {}
  const price = band({ credits: { quantity: '1', credit_type_id: id } })
  const made = await catalog.price(item, price)
  expect(made.status).toBe(201)
  const selling = await catalog.itemOf({ model_type: 'CREDITS', credits: { credit_type_id: id } })
  expect((await a.call('POST', `/v1/credit-types/${id}/archive`, {})).status).toBe(200)
  expect(refusal(await catalog.price(item, price))).toEqual([
    400,
    INVALID,
    'items.0.configs.0.bands.0.credits.credit_type_id',
  ])
  const kept = await a.call('PATCH', `/v1/pricings/${made.body['id']}`, { items: made.body['items'] })
  expect(kept.status).toBe(200)
  const version = `/v1/pricing-plan-versions/${made.body['pricing_plan_version_id']}`
  const activated = await a.call('PATCH', version, { status: 'ACTIVE' })
  expect(refusal(activated)).toEqual([400, 'INVALID_OPERATION', 'status'])
  expect(activated.body['message']).toContain('The credit type is ARCHIVED')
  const renamed = await a.call('PATCH', `/v1/product-items/${selling['id']}`, { description: 'Not sold any more.' })
  expect(renamed.status).toBe(200)
})
