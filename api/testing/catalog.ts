// Catalog entries for tests: what a price needs around it, made through the api.
import { pricingPlanVersionResource } from '../modules/catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource, productResource } from '../modules/catalog/products/product.ts'
import type { Answer, TestTenant } from './harness.ts'
import type { Row } from './wire.ts'

export const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
export const FLAT = { pricing_type: 'FLAT', bands: [{ amount: eur('0.015') }] }

/** What a refusal says: status, code and field; of a success, the status alone. */
export const refusal = (answer: Answer) => [answer.status, answer.body['code'], answer.body['field']]

/** Builders that create as `tenant`. Each throws when the api refuses what it must make. */
export function catalogOf(tenant: TestTenant) {
  const { call, seed } = tenant
  const made = async (method: string, url: string, body: object): Promise<Row> => {
    const answer = await call(method, url, body)
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** An ACTIVE RECURRING item of an ACTIVE product, unless `over` says otherwise. */
  async function itemOf(over: object, product?: Row): Promise<Row> {
    const owner = product ?? (await seed.make(productResource))
    const name = seed.unique('item')
    const body = { product_id: owner['id'], reference: name, name, model_type: 'RECURRING', status: 'ACTIVE' }
    return await made('POST', '/v1/product-items', { ...body, ...over })
  }

  /** An item that measures money. */
  async function moneyItem(): Promise<Row> {
    const reference = seed.unique('money')
    const value = await made('POST', '/v1/meter-values', { reference, name: 'Volume', type: 'AMOUNT' })
    const meter = await made('POST', '/v1/meters', { reference, meter_values: [{ id: value['id'] }] })
    const calculation = await made('POST', '/v1/meter-value-calculations', {
      reference,
      calculation_type: 'SUM',
      meter_id: meter['id'],
      meter_value_id: value['id'],
    })
    const usage_based = { meter_value_calculation_id: calculation['id'] }
    return await itemOf({ model_type: 'USAGE_BASED', usage_based })
  }

  const bodyOf = (version: Row, item: Row, config: object) => ({
    pricing_plan_version_id: version['id'],
    product_ids: [item['product_id']],
    items: [{ product_item_ids: [item['id']], configs: [config] }],
  })

  /** The answer to pricing `item` by `config`, in `version` or a new one. */
  async function price(item: Row, config: object, version?: Row): Promise<Answer> {
    const into = version ?? (await seed.make(pricingPlanVersionResource))
    return await call('POST', '/v1/pricings', bodyOf(into, item, config))
  }

  /** A DRAFT version, an ACTIVE metered item, and the answer to pricing the one in the other. */
  async function draft(config: object = FLAT) {
    const version = await seed.make(pricingPlanVersionResource)
    const item = await seed.make(productItemResource)
    return { version, item, body: bodyOf(version, item, config), answer: await price(item, config, version) }
  }

  /** An ACTIVE version with one pricing. */
  async function activeVersion() {
    const { version, answer, ...rest } = await draft()
    const active = await made('PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    return { ...rest, version: active, pricing: answer.body }
  }

  return { itemOf, moneyItem, price, draft, activeVersion }
}
