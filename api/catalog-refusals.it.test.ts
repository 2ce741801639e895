// Entries of the catalog that contradict themselves, or what they name, are refused when they are saved, by the field that is wrong.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pricingPlanVersionResource } from './modules/catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource, productResource } from './modules/catalog/products/product.ts'
import { catalogOf, refusal } from './testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from './testing/harness.ts'
import { BASE, type Ids, WRONG } from './testing/wrong-entries.ts'

let api: ApiHarness
let a: TestTenant
const ids: Ids = {}
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  const b = api.tenants.bLive
  const make = async (path: string, body: object) => {
    const answer = await a.call('POST', `/v1/${path}`, { reference: a.seed.unique('bad'), name: 'x', ...body })
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const product = await a.seed.make(productResource)
  const item = await a.seed.make(productItemResource)
  const version = await a.seed.make(pricingPlanVersionResource)
  const active = await catalogOf(a).activeVersion()
  const value = await make('meter-values', { type: 'NUMBER' })
  const property = await make('meter-properties', { type: 'STRING' })
  const other = await make('meter-values', { type: 'NUMBER' })
  const meter = await make('meters', {
    meter_values: [{ id: value['id'] }],
    meter_properties: [{ id: property['id'] }],
  })
  const card = await make('pricing-plans', { variant: 'RATE_CARD' })
  const coupon = await make('coupons', {
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'FOREVER' },
  })
  const feature = await make('features', { type: 'NUMBER' })
  const options = await make('features', { type: 'ENUM', enum_values: ['a', 'b'] })
  const field = await make('custom-fields', { resource_type: 'PRODUCT', type: 'NUMBER' })
  Object.assign(ids, {
    product: product.id,
    theirs: (await b.seed.make(productResource)).id,
    item: item.id,
    itemProduct: item['product_id'],
    version: version.id,
    plan: version['pricing_plan_id'],
    activeVersion: active.version['id'],
    activePlan: active.version['pricing_plan_id'],
    value: value['id'],
    otherValue: other['id'],
    property: property['id'],
    meter: meter['id'],
    card: card['id'],
    coupon: coupon['id'],
    number: feature['id'],
    options: options['id'],
    field: field['reference'],
    calculation: (item['usage_based'] as { meter_value_calculation_id: string }).meter_value_calculation_id,
  })
})
afterAll(() => api?.close())

/** These have no reference of their own. */
const NAMELESS = ['pricings', 'pricing-plan-versions', 'pricing-groups', 'promotion-codes']

const rows = WRONG.map(([wrong, ...sent]) => [wrong, sent] as const)
test.each(rows)('%s', async (_wrong, [path, body, field, code = 'INVALID_FIELD']) => {
  const named = NAMELESS.includes(path) ? {} : { reference: a.seed.unique('bad'), name: 'x' }
  const answer = await a.call('POST', `/v1/${path}`, { ...named, ...BASE[path], ...body(ids) })
  expect(refusal(answer)).toEqual([code === 'RESOURCE_NOT_FOUND' ? 404 : 400, code, field])
})
