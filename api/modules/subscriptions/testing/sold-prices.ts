// A plan with a price of every kind that a schedule may say something about, for the calls of refused-terms.ts.
import { catalogOf, eur, FLAT } from '../../../testing/catalog.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { JUNE, MAY } from './refused-calls.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from './seed-subscription.ts'

/** The ids of the prices by their names, of a schedule of May that is DRAFT and sells them, and of what it cannot sell. */
export async function soldPrices(tenant: TestTenant, entityId: string): Promise<Record<string, string>> {
  const { itemOf, moneyItem } = catalogOf(tenant)
  const ids: Record<string, string> = {}
  const versionId = await makeVersion(tenant, 'DRAFT')
  const price = async (name: string, item: Row, config: object, over: object = {}): Promise<void> => {
    const pricing = await succeed(tenant, 'POST', '/v1/pricings', {
      pricing_plan_version_id: versionId,
      product_ids: [item['product_id']],
      items: [{ product_item_ids: [item['id']], configs: [config] }],
      ...over,
    })
    ids[`${name}Pricing`] = pricing['id']
    ids[`${name}Item`] = pricing['items'][0].id
    ids[name] = pricing['items'][0].configs[0].id
  }
  const metered = () => tenant.seed.make(productItemResource)
  const lump = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('5') }] }
  const each = { pricing_type: 'FLAT', bands: [{ amount: eur('5') }] }
  await price('flat', await metered(), FLAT)
  await price('fixed', await metered(), lump)
  await price('event', await metered(), { ...FLAT, rate_per: 'EVENT' })
  await price('yearly', await metered(), { ...FLAT, pricing_period: { type: 'YEAR', value: 1 } })
  await price('money', await moneyItem(), { pricing_type: 'FLAT', bands: [{ percentage: '1' }] })
  await price('once', await itemOf({ model_type: 'ONE_OFF' }), each)
  await price('onceFixed', await itemOf({ model_type: 'ONE_OFF' }), lump)
  await price('seats', await itemOf({ model_type: 'PER_SEAT' }), each)
  await price('addon', await itemOf({}), lump, { product_type: 'ADDON' })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  ids['sold'] = await makeSchedule(tenant, await makeSubscription(tenant), MAY, {
    pricing_plan_version_id: versionId,
    end_at: JUNE,
  })
  ids['soldVersion'] = versionId
  const retired = await itemOf({ model_type: 'PER_SEAT' })
  await succeed(tenant, 'POST', `/v1/product-items/${retired['id']}/archive`)
  ids['retiredItem'] = retired['id']
  // A template that sells the LATEST version, of which there is one by now without most of the prices.
  const { pricing_plan_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${versionId}`)
  const { id: template } = await succeed(tenant, 'POST', '/v1/pricing-plan-subscriptions', {
    billing_entity_id: entityId,
    billing_currency: 'EUR',
    type: 'TEMPLATE',
  })
  ids['latestTemplate'] = template
  ids['latestSchedule'] = await makeSchedule(tenant, template, MAY, {
    pricing_plan_version_id: undefined,
    pricing_plan_version_selector: { pricing_plan_id, type: 'LATEST' },
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${template}`, { status: 'ACTIVE' })
  const next = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', { pricing_plan_id })
  const item = await itemOf({})
  await succeed(tenant, 'POST', '/v1/pricings', {
    pricing_plan_version_id: next['id'],
    product_ids: [item['product_id']],
    items: [{ product_item_ids: [item['id']], configs: [lump] }],
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  return ids
}
