// When a version may become ACTIVE, and what holds from then on, through the api (semantics 3.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { productItemResource } from '../products/product.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
})
afterAll(() => api?.close())

describe('activation', () => {
  const activate = (id: unknown) => a.call('PATCH', `/v1/pricing-plan-versions/${id}`, { status: 'ACTIVE' })

  test('needs a pricing', async () => {
    const version = await a.seed.make(pricingPlanVersionResource)
    expect(refusal(await activate(version['id']))).toEqual([400, 'INVALID_OPERATION', 'status'])
  })

  test('needs its product items and its products to be ACTIVE', async () => {
    const product = (await a.call('POST', '/v1/products', { name: 'Draft product' })).body
    const item = await catalog.itemOf({ status: 'DRAFT' }, product)
    const priced = await catalog.price(item, { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('10') }] })
    expect(priced.status).toBe(201)
    const version = priced.body['pricing_plan_version_id']
    const first = await activate(version)
    expect(first.body).toMatchObject({
      code: 'INVALID_OPERATION',
      resource_type: 'PRODUCT',
      resource_id: product['id'],
    })
    await a.call('POST', `/v1/products/${product['id']}/activate`)
    const second = await activate(version)
    expect(second.body).toMatchObject({
      code: 'INVALID_OPERATION',
      resource_type: 'PRODUCT_ITEM',
      resource_id: item['id'],
    })
    await a.call('POST', `/v1/product-items/${item['id']}/activate`)
    expect((await activate(version)).body['status']).toBe('ACTIVE')
  })

  test('needs all prices in one currency', async () => {
    const { version, answer } = await catalog.draft()
    const other = await catalog.itemOf({})
    await a.call('POST', '/v1/pricings', {
      pricing_plan_version_id: version['id'],
      product_ids: [other['product_id']],
      items: [
        {
          product_item_ids: [other['id']],
          configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '1', currency: 'USD' } }] }],
        },
      ],
    })
    expect(answer.status).toBe(201)
    const refused = await activate(version['id'])
    expect(refusal(refused)).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(refused.body['message']).toContain('EUR, USD')
  })

  test('looks again at prices whose item changed while both were drafts', async () => {
    const item = await catalog.itemOf({ status: 'DRAFT' })
    const priced = await catalog.price(item, {
      pricing_type: 'FIXED',
      billing_in_advance: true,
      bands: [{ fixed_amount: eur('10') }],
    })
    const measured = await a.seed.make(productItemResource)
    const patch = {
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: measured['meter_value_calculation_id'] },
      status: 'ACTIVE',
    }
    expect((await a.call('PATCH', `/v1/product-items/${item['id']}`, patch)).status).toBe(200)
    const refused = await activate(priced.body['pricing_plan_version_id'])
    expect(refused.body).toMatchObject({
      code: 'INVALID_OPERATION',
      resource_type: 'PRICING',
      resource_id: priced.body['id'],
    })
    expect(refused.body['message']).toContain('billing_in_advance')
  })

  test('statuses follow their rules: DEPRECATED comes back, DRAFT never, ARCHIVED is the end', async () => {
    const { version } = await catalog.activeVersion()
    const to = async (status: string) => {
      const answer = await a.call('PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status })
      return answer.body['code'] ?? answer.body['status']
    }
    expect(await to('DRAFT')).toBe('INVALID_OPERATION')
    expect(await to('DEPRECATED')).toBe('DEPRECATED')
    expect(await to('ACTIVE')).toBe('ACTIVE')
    expect(await to('ARCHIVED')).toBe('ARCHIVED')
    expect(await to('ACTIVE')).toBe('INVALID_OPERATION')
  })

  test('fixes the pricings: none is added, changed or deleted, not even by a query of our own', async () => {
    const { version, pricing, body } = await catalog.activeVersion()
    const frozen = [400, 'INVALID_OPERATION', 'pricing_plan_version_id']
    expect(refusal(await a.call('POST', '/v1/pricings', body))).toEqual(frozen)
    expect(refusal(await a.call('PATCH', `/v1/pricings/${pricing['id']}`, { name: 'Cheaper' }))).toEqual(frozen)
    expect(refusal(await a.call('DELETE', `/v1/pricings/${pricing['id']}`))).toEqual(frozen)
    for (const statement of [`update pricings set name = 'x' where id = $1`, 'delete from pricings where id = $1']) {
      await expect(api.sql(statement, [pricing['id']])).rejects.toThrow('cannot change')
    }
    expect(version['status']).toBe('ACTIVE')
  })

  test('and a pricing added at the same moment: one of the two loses, never both win', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { version, item } = await catalog.draft()
      const other = await catalog.itemOf({ status: 'DRAFT' })
      const [activated, added] = await Promise.all([
        activate(version['id']),
        a.call('POST', '/v1/pricings', {
          pricing_plan_version_id: version['id'],
          product_ids: [other['product_id']],
          items: [
            {
              product_item_ids: [other['id']],
              configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }] }],
            },
          ],
        }),
      ])
      // The item of the added pricing is DRAFT, so a version with it cannot be ACTIVE.
      expect([activated.status, added.status].toSorted()).toEqual(activated.status === 200 ? [200, 400] : [201, 400])
      expect(item['status']).toBe('ACTIVE')
    }
  })
})
