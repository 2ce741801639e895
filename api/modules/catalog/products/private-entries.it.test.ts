// Entries of the catalog for one customer (semantics 2), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

describe('entries for one customer', () => {
  const customer = async () => String((await a.seed.make(customerResource))['id'])
  const post = (path: string, body: object) =>
    a.call('POST', `/v1/${path}`, { name: 'Private', reference: a.seed.unique('private'), ...body })

  test('are listed by their customer, who never changes and stays while they are there', async () => {
    const [own, other] = [await customer(), await customer()]
    const category = await post('product-categories', { customer_id: own })
    const product = await post('products', { customer_id: own, category_id: category.body['id'] })
    const item = await post('product-items', {
      customer_id: own,
      product_id: product.body['id'],
      model_type: 'RECURRING',
    })
    const made = { 'product-categories': category, products: product, 'product-items': item }
    for (const [path, { status, body }] of Object.entries(made)) {
      expect([path, status, body['customer_id']]).toEqual([path, 201, own])
      const url = `/v1/${path}/${body['id']}`
      const changed = await a.call('PATCH', url, { customer_id: other })
      expect(refusal(changed)).toEqual([400, 'INVALID_FIELD', 'customer_id'])
      const listed = await a.call('GET', `/v1/${path}?customer_id=${own}`)
      expect(listed.body['data'].map((row: Row) => row['id'])).toEqual([body['id']])
      expect((await a.call('GET', `/v1/${path}?customer_id=${other}`)).body['data']).toEqual([])
    }
    const kept = await a.call('DELETE', `/v1/customers/${own}`)
    expect([kept.status, kept.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    const foreign = await api.tenants.bLive.seed.make(customerResource)
    const refused = await post('products', { customer_id: foreign['id'] })
    expect(refusal(refused)).toEqual([404, 'RESOURCE_NOT_FOUND', 'customer_id'])
    const file = JSON.stringify((await a.call('GET', '/v1/catalog')).body)
    for (const { body } of Object.values(made)) expect(file).not.toContain(body['reference'])
  })

  test('take in what is for the same customer alone', async () => {
    const [own, other] = [await customer(), await customer()]
    const category_id = (await post('product-categories', { customer_id: own })).body['id']
    for (const customer_id of [null, other]) {
      const product = await post('products', { category_id, customer_id })
      expect(refusal(product)).toEqual([400, 'INVALID_FIELD', 'category_id'])
    }
    const open = await post('products', {})
    const moved = await a.call('PATCH', `/v1/products/${open.body['id']}`, { category_id })
    expect(refusal(moved)).toEqual([400, 'INVALID_FIELD', 'category_id'])
    const closed = await post('products', { customer_id: own })
    const inside = { product_id: closed.body['id'], model_type: 'RECURRING' }
    expect(refusal(await post('product-items', inside))).toEqual([400, 'INVALID_FIELD', 'product_id'])
    expect((await post('product-items', { ...inside, customer_id: own })).status).toBe(201)
  })

  test('are priced by a plan for the same customer alone', async () => {
    const [own, other] = [await customer(), await customer()]
    const product = await post('products', { status: 'ACTIVE' })
    const privateProduct = await post('products', { status: 'ACTIVE', customer_id: own })
    const given = { status: 'ACTIVE', customer_id: own, model_type: 'RECURRING' }
    const item = await post('product-items', { ...given, product_id: product.body['id'] })
    const versionFor = async (customer_id: string | null) => {
      const plan = await post('pricing-plans', customer_id === null ? {} : { type: 'CUSTOM', customer_id })
      return (await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan.body['id'] })).body['id']
    }
    const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '9', currency: 'EUR' } }] }]
    const price = (pricing_plan_version_id: unknown, product_ids: unknown[]) =>
      a.call('POST', '/v1/pricings', {
        pricing_plan_version_id,
        product_ids,
        items: [{ product_item_ids: [item.body['id']], configs }],
      })
    for (const version of [await versionFor(null), await versionFor(other)]) {
      const priced = await price(version, [product.body['id']])
      expect(refusal(priced)).toEqual([400, 'INVALID_FIELD', 'items.0.product_item_ids.0'])
      const both = await price(version, [product.body['id'], privateProduct.body['id']])
      expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'product_ids.1'])
    }
    const version = await versionFor(own)
    expect((await price(version, [product.body['id'], privateProduct.body['id']])).status).toBe(201)
    const plan = await post('pricing-plans', {})
    const copied = await a.call('POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: plan.body['id'],
      copied_from_pricing_plan_version_id: version,
    })
    expect(refusal(copied)).toEqual([400, 'INVALID_FIELD', 'copied_from_pricing_plan_version_id'])
    const active = await a.call('PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'ACTIVE' })
    expect(active.status).toBe(200)
    const billing_entity_id = (await a.seed.make(billingEntityResource))['id']
    const line = {
      product_item_id: item.body['id'],
      pricing_type: 'FIXED',
      pricing_band: { fixed_amount: { quantity: '5', currency: 'EUR' } },
    }
    const oneOff = (customer_id: string) =>
      a.call('POST', '/v1/invoices', { customer_id, billing_entity_id, billing_currency: 'EUR', lines: [line] })
    expect(refusal(await oneOff(other))).toEqual([400, 'INVALID_FIELD', 'lines.0.product_item_id'])
  })
})
