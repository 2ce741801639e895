// Versions of plans, through the api (semantics 0.6, 3.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticeTypesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanResource } from './pricing-plan.ts'
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

describe('versions', () => {
  test('of many made at once, each gets a number of its own, from 1 without a gap', async () => {
    const plan = await a.seed.make(pricingPlanResource)
    const made = await Promise.all(
      Array.from({ length: 8 }, () => a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })),
    )
    expect(made.map(answer => answer.status)).toEqual(Array(8).fill(201))
    expect(made.map(answer => answer.body['version']).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('are listed by their plan and their status, highest number first', async () => {
    const { version } = await catalog.activeVersion()
    const second = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: version['pricing_plan_id'] })
    const list = async (query: string) => {
      const url = `/v1/pricing-plan-versions?pricing_plan_id=${version['pricing_plan_id']}${query}`
      return (await a.call('GET', url)).body['data'].map((row: Row) => row['id'])
    }
    expect(await list('&order_by=version')).toEqual([second.body['id'], version['id']])
    expect(await list('&statuses[]=ACTIVE')).toEqual([version['id']])
  })

  test('PUT makes the next version, changes a DRAFT, and refuses one that is ACTIVE', async () => {
    const { version } = await catalog.activeVersion()
    const pricing_plan_id = version['pricing_plan_id']
    const put = (over: object = {}) => a.call('PUT', '/v1/pricing-plan-versions', { pricing_plan_id, ...over })
    expect(refusal(await put({ version: 1 }))).toEqual([400, 'INVALID_OPERATION', 'version'])
    expect(refusal(await put({ version: 1, status: 'DEPRECATED' }))).toEqual([400, 'INVALID_OPERATION', 'version'])
    const repeated = await put({ version: 1, status: 'ACTIVE' })
    expect([repeated.status, repeated.body['id']]).toEqual([200, version['id']])
    expect(refusal(await put({ version: 3 }))).toEqual([400, 'INVALID_FIELD', 'version'])
    const made = await put({ version: 2, copied_from_pricing_plan_version_id: version['id'] })
    expect([made.status, made.body]).toMatchObject([201, { version: 2, status: 'DRAFT' }])
    expect(made.body['pricing_categories'][0].pricings).toHaveLength(1)
    // Without a number: the DRAFT that is there.
    const again = await put()
    expect([again.status, again.body['id']]).toEqual([200, made.body['id']])
    const other = await put({ version: 2, copied_from_pricing_plan_version_id: made.body['id'] })
    expect(refusal(other)).toEqual([400, 'INVALID_FIELD', 'copied_from_pricing_plan_version_id'])
    const active = await put({ version: 2, status: 'ACTIVE' })
    expect([active.status, active.body['status']]).toEqual([200, 'ACTIVE'])
    const third = await put()
    expect([third.status, third.body['version']]).toEqual([201, 3])
    expect(await noticeTypesOf(api, made.body['id'])).toEqual(
      ['CREATED', 'UPDATED'].map(type => `PRICING_PLAN_VERSION.${type}`),
    )
  })

  test('of many PUT at once without a number, one makes the version and the others find it', async () => {
    const plan = await a.seed.make(pricingPlanResource)
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => a.call('PUT', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })),
    )
    expect(answers.map(answer => answer.status).toSorted()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(answer => answer.body['id'])).size).toBe(1)
    const nowhere = await a.call('PUT', '/v1/pricing-plan-versions', { pricing_plan_id: 'pric_nothing' })
    expect(refusal(nowhere)).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_plan_id'])
    const bad = await a.call('PUT', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'], version: 0 })
    expect(refusal(bad)).toEqual([400, 'INVALID_FIELD', 'version'])
  })

  test('a version of no plan, or one that starts ACTIVE, is refused', async () => {
    const nowhere = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: 'pric_nothing' })
    expect(refusal(nowhere)).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_plan_id'])
    const plan = await a.seed.make(pricingPlanResource)
    const active = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'], status: 'ACTIVE' })
    expect(refusal(active)).toEqual([400, 'INVALID_FIELD', 'status'])
  })

  test.each(['pricing_categories', 'version'])('%s is refused by name', async name => {
    const plan = await a.seed.make(pricingPlanResource)
    const answer = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'], [name]: {} })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', name])
  })

  test('a version shows its pricings by category, in display order, and expands its plan', async () => {
    const version = await a.seed.make(pricingPlanVersionResource)
    const category = async (display_order: number | null) =>
      (await a.call('POST', '/v1/product-categories', { reference: a.seed.unique('c'), name: 'C', display_order }))
        .body['id']
    const priced = async (category_id: string | null, display_order: number | null): Promise<string> => {
      const product = await a.call('POST', '/v1/products', { name: 'P', status: 'ACTIVE', category_id })
      const item = await catalog.itemOf({}, product.body)
      const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('9') }] }]
      const body = {
        pricing_plan_version_id: version['id'],
        product_ids: [product.body['id']],
        display_order,
        items: [{ product_item_ids: [item['id']], configs }],
      }
      return (await a.call('POST', '/v1/pricings', body)).body['id']
    }
    const [first, second] = [await category(1), await category(2)]
    const none = await priced(null, 1)
    const late = await priced(second, 1)
    const [unordered, ordered] = [await priced(first, null), await priced(first, 5)]
    const read = await a.call('GET', `/v1/pricing-plan-versions/${version['id']}?expand[]=pricing_plan`)
    const shown = read.body['pricing_categories'].map((group: Row) => [
      group['product_category_id'],
      group['pricings'].map((pricing: Row) => pricing['id']),
    ])
    expect(shown).toEqual([
      [first, [ordered, unordered]],
      [second, [late]],
      [null, [none]],
    ])
    expect(read.body['pricing_plan']).toMatchObject({ object_type: 'PRICING_PLAN', id: version['pricing_plan_id'] })
    expect(read.body['pricing_currency_settings']).toEqual({
      default_pricing_currency: 'EUR',
      pricing_currencies: ['EUR'],
    })
    const categories: Row[] = read.body['pricing_categories']
    expect(categories[0]).not.toHaveProperty('product_category')
    const expanded = await a.call('GET', `/v1/pricing-plan-versions/${version['id']}?expand[]=ALL`)
    const ids = (of: Row[]) => of.map(({ id }) => id)
    expect(ids(expanded.body['pricing_categories'])).toEqual(ids(categories))
    expect(new Set(ids(categories)).size).toBe(3)
    expect(expanded.body['pricing_categories']).toMatchObject([
      {
        product_category: { object_type: 'PRODUCT_CATEGORY', id: first },
        pricings: [
          { products: [{ object_type: 'PRODUCT' }], items: [{ product_items: [{ object_type: 'PRODUCT_ITEM' }] }] },
          {},
        ],
      },
      { product_category: { id: second } },
      { product_category: null },
    ])
    const [pricing] = read.body['pricing_categories'][0].pricings
    expect((await a.call('GET', `/v1/pricings/${ordered}`)).body).toMatchObject({ ...pricing })
  })

  test('a version is copied with new ids for everything in it', async () => {
    const { version, pricing } = await catalog.activeVersion()
    const copy = await a.call('POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: version['pricing_plan_id'],
      copied_from_pricing_plan_version_id: version['id'],
    })
    expect(copy.body).toMatchObject({ version: version['version'] + 1, status: 'DRAFT' })
    const [copied] = copy.body['pricing_categories'][0].pricings
    const bare = (row: Row) => ({
      name: row['name'],
      product_ids: row['product_ids'],
      bands: row['items'][0].configs[0].bands,
      product_item_ids: row['items'][0].product_item_ids,
    })
    expect(bare(copied)).toEqual(bare(pricing))
    const ids = (row: Row) => [row['id'], row['items'][0].id, row['items'][0].configs[0].id]
    for (const [index, id] of ids(copied).entries()) expect(id).not.toBe(ids(pricing)[index])
    const events = await api.sql(`select type from outbox where object_id = $1`, [copied.id])
    expect(events.map(event => event['type'])).toEqual(['PRICING.CREATED'])
  })

  test('a product that is DEPRECATED since does not enter a copy', async () => {
    const { version, item } = await catalog.activeVersion()
    await a.call('POST', `/v1/products/${item['product_id']}/deprecate`)
    const copy = await a.call('POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: version['pricing_plan_id'],
      copied_from_pricing_plan_version_id: version['id'],
    })
    expect(refusal(copy)).toEqual([400, 'INVALID_FIELD', 'copied_from_pricing_plan_version_id'])
    const plan = await a.call('GET', `/v1/pricing-plans/${version['pricing_plan_id']}`)
    expect(plan.body['pricing_plan_version_infos']).toHaveLength(1)
  })

  test('a DRAFT is deleted with its pricings, an ACTIVE one is not', async () => {
    const { version, answer } = await catalog.draft()
    expect((await a.call('DELETE', `/v1/pricing-plan-versions/${version['id']}`)).status).toBe(200)
    expect((await a.call('GET', `/v1/pricings/${answer.body['id']}`)).status).toBe(404)
    expect(await noticeTypesOf(api, answer.body['id'])).toEqual(['PRICING.CREATED', 'PRICING.DELETED'])
    const live = await catalog.activeVersion()
    const refused = await a.call('DELETE', `/v1/pricing-plan-versions/${live.version['id']}`)
    expect(refusal(refused)).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', 'status'])
  })
})
