// The rules of categories, products and product items (semantics 0.6, 2), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticeTypesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { pricingResource } from '../pricing-plans/pricing.ts'
import { productItemResource, productResource } from './product.ts'
import { productCategoryResource } from './product-category.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const eventsOf = (id: unknown) => noticeTypesOf(api, id)

async function product(over: object = {}): Promise<Row> {
  const answer = await a.call('POST', '/v1/products', { name: a.seed.unique('Product'), ...over })
  expect(answer.status).toBe(201)
  return answer.body
}

const itemBody = (productId: unknown, over: object = {}) => ({
  product_id: productId,
  reference: a.seed.unique('item'),
  name: a.seed.unique('Item'),
  model_type: 'RECURRING',
  ...over,
})

async function item(productId: unknown, over: object = {}): Promise<Row> {
  const answer = await a.call('POST', '/v1/product-items', itemBody(productId, over))
  expect(answer.status).toBe(201)
  return answer.body
}

const statusOf = async (one: Row) => (await a.call('GET', `/v1/product-items/${one['id']}`)).body['status']

describe('categories', () => {
  test('are created, found by reference, changed, cleared and deleted, each with its notice', async () => {
    const body = { reference: a.seed.unique('c'), name: 'Models', tax_category: 'EXEMPT', display_order: 2 }
    const created = await a.call('POST', '/v1/product-categories', body)
    expect(created.body).toMatchObject({ object_type: 'PRODUCT_CATEGORY', ...body })
    const url = `/v1/product-categories/${body.reference}`
    expect((await a.call('PATCH', url, { tax_category: null })).body['tax_category']).toBe(null)
    expect(refusal(await a.call('PATCH', url, { name: null }))).toEqual([400, 'INVALID_FIELD', 'name'])
    expect((await a.call('DELETE', url)).status).toBe(200)
    const { id } = created.body
    expect(await eventsOf(id)).toEqual(['CREATED', 'UPDATED', 'DELETED'].map(action => `PRODUCT_CATEGORY.${action}`))
  })

  test.each([
    ['no name', { reference: 'x' }, 'MISSING_FIELD', 'name'],
    ['no reference', { name: 'x' }, 'MISSING_FIELD', 'reference'],
    [
      'a tax category that is none',
      { reference: 'x', name: 'x', tax_category: 'LOW' },
      'INVALID_FIELD',
      'tax_category',
    ],
  ])('%s is refused', async (_name, body, code, field) => {
    expect(refusal(await a.call('POST', '/v1/product-categories', body))).toEqual([400, code, field])
  })

  test('one that a product is in stays', async () => {
    const made = await a.seed.make(productResource)
    const answer = await a.call('DELETE', `/v1/product-categories/${made['category_id']}`)
    expect([answer.status, answer.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
  })
})

describe('products', () => {
  test('start as DRAFT of type DEFAULT, expand their category, and are filtered by it', async () => {
    const made = await a.seed.make(productResource)
    const plain = await product()
    expect(plain).toMatchObject({ object_type: 'PRODUCT', status: 'DRAFT', product_type: 'DEFAULT' })
    const read = await a.call('GET', `/v1/products/${made['reference']}?expand[]=category`)
    expect(read.body['category']).toMatchObject({ object_type: 'PRODUCT_CATEGORY', id: made['category_id'] })
    const filtered = await a.call('GET', `/v1/products?product_category_id=${made['category_id']}&statuses[]=ACTIVE`)
    expect(filtered.body['data'].map((row: Row) => row['id'])).toEqual([made['id']])
    const outside = await a.call('GET', `/v1/products?product_category_id=${made['category_id']}&statuses[]=DRAFT`)
    expect(outside.body['data']).toEqual([])
  })

  test('lists come in the order asked for, in pages that hold every row once', async () => {
    const { bLive } = api.tenants
    for (const display_order of [3, 1, 2, 2]) {
      await bLive.call('POST', '/v1/products', { name: `P${display_order}`, display_order })
    }
    const page = async (number: number) =>
      (await bLive.call('GET', `/v1/products?order_by=display_order&order_direction=asc&limit=3&page=${number}`)).body
    const [first, second] = [await page(1), await page(2)]
    const rows = [...first['data'], ...second['data']]
    expect(rows.map((row: Row) => row['display_order'])).toEqual([1, 2, 2, 3])
    expect(new Set(rows.map((row: Row) => row['id'])).size).toBe(4)
    expect([first['total_number_of_pages'], second['links'].next]).toEqual([2, null])
  })

  test.each([
    ['an unknown kind', { product_type: 'EXTRA' }, 'product_type'],
    ['an order that is no integer', { display_order: '1' }, 'display_order'],
  ])('%s is refused', async (_name, over, field) => {
    expect(refusal(await a.call('POST', '/v1/products', { name: 'x', ...over }))).toEqual([400, 'INVALID_FIELD', field])
  })

  test('a category that does not exist is refused', async () => {
    const answer = await a.call('POST', '/v1/products', { name: 'x', category_id: 'proc_nothing' })
    expect(refusal(answer)).toEqual([404, 'RESOURCE_NOT_FOUND', 'category_id'])
  })

  test('a live product keeps its reference; a DRAFT may change it', async () => {
    const draft = await product({ reference: a.seed.unique('r') })
    const rename = () => a.call('PATCH', `/v1/products/${draft['id']}`, { reference: a.seed.unique('r') })
    expect((await rename()).status).toBe(200)
    await a.call('POST', `/v1/products/${draft['id']}/activate`)
    expect(refusal(await rename())).toEqual([400, 'INVALID_FIELD', 'reference'])
  })

  test('one with items, and one that a pricing names, is not deleted', async () => {
    const owner = await product()
    await item(owner['id'])
    const refused = await a.call('DELETE', `/v1/products/${owner['id']}`)
    expect([refused.status, refused.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    const [named, other] = [await product(), await product()]
    const version = (await a.seed.make(pricingResource))['pricing_plan_version_id']
    const body = { pricing_plan_version_id: version, product_ids: [other['id'], named['id']] }
    const pricing = await a.call('POST', '/v1/pricings', body)
    expect(pricing.status).toBe(201)
    const kept = await a.call('DELETE', `/v1/products/${named['id']}`)
    expect(kept.body).toMatchObject({ code: 'COULD_NOT_DELETE_RESOURCE', resource_id: named['id'] })
    await a.call('DELETE', `/v1/pricings/${pricing.body['id']}`)
    expect((await a.call('DELETE', `/v1/products/${named['id']}`)).status).toBe(200)
  })
})

describe('align_product_item_status', () => {
  test('takes the items along, each with its own notice; without it they stay', async () => {
    const owner = await product()
    const [one, two] = [await item(owner['id']), await item(owner['id'], { status: 'ACTIVE' })]
    await a.call('POST', `/v1/products/${owner['id']}/activate?align_product_item_status=false`)
    expect([await statusOf(one), await statusOf(two)]).toEqual(['DRAFT', 'ACTIVE'])
    // The product is ACTIVE already: the items follow all the same.
    const answer = await a.call('POST', `/v1/products/${owner['id']}/activate?align_product_item_status=true`)
    expect([answer.status, await statusOf(one), await statusOf(two)]).toEqual([200, 'ACTIVE', 'ACTIVE'])
    expect(await eventsOf(one['id'])).toEqual(['PRODUCT_ITEM.CREATED', 'PRODUCT_ITEM.UPDATED'])
    expect(await eventsOf(two['id'])).toEqual(['PRODUCT_ITEM.CREATED'])
    const patch = await a.call('PATCH', `/v1/products/${owner['id']}?align_product_item_status=true`, {
      status: 'DEPRECATED',
    })
    expect([patch.body['status'], await statusOf(one)]).toEqual(['DEPRECATED', 'DEPRECATED'])
  })

  test('carries on with the items that are on sale: DRAFT and ARCHIVED ones stay as they are', async () => {
    const owner = await product({ status: 'ACTIVE' })
    const [gone, live, draft] = [
      await item(owner['id'], { status: 'ACTIVE' }),
      await item(owner['id'], { status: 'ACTIVE' }),
      await item(owner['id']),
    ]
    await a.call('POST', `/v1/product-items/${gone['id']}/archive`)
    const deprecate = () => a.call('POST', `/v1/products/${owner['id']}/deprecate?align_product_item_status=true`)
    expect((await deprecate()).status).toBe(200)
    const statuses = async () => [await statusOf(gone), await statusOf(live), await statusOf(draft)]
    expect(await statuses()).toEqual(['ARCHIVED', 'DEPRECATED', 'DRAFT'])
    await a.call('POST', `/v1/products/${owner['id']}/archive?align_product_item_status=true`)
    expect(await statuses()).toEqual(['ARCHIVED', 'ARCHIVED', 'DRAFT'])
  })

  test('deletes the items of a DRAFT with it, or nothing when one is live', async () => {
    const owner = await product()
    const [one, two] = [await item(owner['id']), await item(owner['id'], { status: 'ACTIVE' })]
    const remove = () => a.call('DELETE', `/v1/products/${owner['id']}?align_product_item_status=true`)
    expect(refusal(await remove())).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', 'status'])
    expect(await statusOf(one)).toBe('DRAFT')
    const clean = await product()
    const only = await item(clean['id'])
    expect((await a.call('DELETE', `/v1/products/${clean['id']}?align_product_item_status=true`)).status).toBe(200)
    expect(await eventsOf(only['id'])).toEqual(['PRODUCT_ITEM.CREATED', 'PRODUCT_ITEM.DELETED'])
    expect(await statusOf(two)).toBe('ACTIVE')
  })

  test.each(['align_product_item_status=yes', 'field_actions=ADD'])('?%s is refused', async query => {
    const owner = await product()
    const answer = await a.call('POST', `/v1/products/${owner['id']}/activate?${query}`)
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', query.split('=')[0]])
  })
})

describe('items', () => {
  test('are REVENUE unless said otherwise, show their calculation, and expand it and their product', async () => {
    const made = await a.seed.make(productItemResource)
    expect(made).toMatchObject({ object_type: 'PRODUCT_ITEM', type: 'REVENUE', model_type: 'USAGE_BASED' })
    expect(made['meter_value_calculation_id']).toBe(made['usage_based'].meter_value_calculation_id)
    const read = await a.call('GET', `/v1/product-items/${made['reference']}?expand[]=ALL`)
    expect(read.body['product']).toMatchObject({ id: made['product_id'] })
    expect(read.body['meter_value_calculation']).toMatchObject({ object_type: 'METER_VALUE_CALCULATION' })
    expect(read.body['usage_based'].meter_value_calculation).toEqual(read.body['meter_value_calculation'])
    const listed = await a.call('GET', `/v1/product-items?product_id=${made['product_id']}`)
    expect(listed.body['data']).toEqual([made])
  })

  test('a USAGE_BASED_CONVERSION item is measured too, and shows other calculations, which stay while it does', async () => {
    const owner = await product()
    const of = (model_type: string, usage_based: object | null = null) =>
      a.call('POST', '/v1/product-items', itemBody(owner['id'], { model_type, usage_based }))
    expect(refusal(await of('USAGE_BASED_CONVERSION'))).toEqual([
      400,
      'MISSING_FIELD',
      'usage_based.meter_value_calculation_id',
    ])
    expect(refusal(await of('PER_UNIT'))).toEqual([400, 'INVALID_FIELD', 'model_type'])
    const [billed, shown] = [
      await a.seed.make(meterValueCalculationResource),
      await a.seed.make(meterValueCalculationResource),
    ]
    const report = (id: unknown) => ({
      meter_value_calculation_id: billed['id'],
      report_meter_value_calculation_ids: [id],
    })
    expect(refusal(await of('USAGE_BASED_CONVERSION', report('bmet_nobody')))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'usage_based.report_meter_value_calculation_ids.0',
    ])
    const { status, body } = await of('USAGE_BASED_CONVERSION', report(shown['id']))
    expect([status, body['report_meter_value_calculation_ids']]).toEqual([201, [shown['id']]])
    const gone = await a.call('DELETE', `/v1/meter-value-calculations/${shown['id']}`)
    expect([gone.status, gone.body['message']]).toEqual([409, expect.stringContaining(String(body['id']))])
  })

  test('a RECURRING item is not measured, a USAGE_BASED one is', async () => {
    const owner = await product()
    const calculation = await a.seed.make(meterValueCalculationResource)
    const usage_based = { meter_value_calculation_id: calculation['id'] }
    const recurring = await a.call('POST', '/v1/product-items', itemBody(owner['id'], { usage_based }))
    expect(refusal(recurring)).toEqual([400, 'INVALID_FIELD', 'usage_based'])
    const one = await item(owner['id'], { model_type: 'USAGE_BASED', usage_based })
    const cleared = await a.call('PATCH', `/v1/product-items/${one['id']}`, { usage_based: null })
    expect(refusal(cleared)).toEqual([400, 'MISSING_FIELD', 'usage_based.meter_value_calculation_id'])
    const turned = await a.call('PATCH', `/v1/product-items/${one['id']}`, {
      usage_based: null,
      model_type: 'RECURRING',
    })
    expect(turned.body).toMatchObject({ model_type: 'RECURRING', usage_based: null, meter_value_calculation_id: null })
  })

  test.each([
    ['further metrics', 'report_meter_value_calculation_ids'],
    ['conditions', 'conditions'],
  ])('%s is refused by name', async (_name, field) => {
    const usage_based = { meter_value_calculation_id: 'bmet_1', [field]: 'x' }
    const answer = await a.call(
      'POST',
      '/v1/product-items',
      itemBody('prod_1', { model_type: 'USAGE_BASED', usage_based }),
    )
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', `usage_based.${field}`])
  })

  test('the calculation an item measures by stays', async () => {
    const made = await a.seed.make(productItemResource)
    const answer = await a.call('DELETE', `/v1/meter-value-calculations/${made['meter_value_calculation_id']}`)
    expect([answer.status, answer.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
  })

  test('the calculation that decides on its tiers is shown, expanded, and stays', async () => {
    const owner = await product()
    const [billed, seats] = [
      await a.seed.make(meterValueCalculationResource),
      await a.seed.make(meterValueCalculationResource),
    ]
    const usage_based = { meter_value_calculation_id: billed['id'], tiering_meter_value_calculation_id: seats['id'] }
    const made = await item(owner['id'], { model_type: 'USAGE_BASED', usage_based })
    expect(made['usage_based']).toEqual(usage_based)
    const read = await a.call('GET', `/v1/product-items/${made['id']}?expand[]=tiering_meter_value_calculation`)
    expect(read.body['usage_based']['tiering_meter_value_calculation']).toMatchObject({ id: seats['id'] })
    const removed = await a.call('DELETE', `/v1/meter-value-calculations/${seats['id']}`)
    expect([removed.status, removed.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    const unknown = { ...usage_based, tiering_meter_value_calculation_id: 'bmet_nothing' }
    const refused = await a.call(
      'POST',
      '/v1/product-items',
      itemBody(owner['id'], { model_type: 'USAGE_BASED', usage_based: unknown }),
    )
    expect(refusal(refused)).toEqual([404, 'RESOURCE_NOT_FOUND', 'usage_based.tiering_meter_value_calculation_id'])
  })

  test('a product that is DEPRECATED or ARCHIVED takes no new items', async () => {
    const owner = await product({ status: 'ACTIVE' })
    for (const verb of ['deprecate', 'archive']) {
      await a.call('POST', `/v1/products/${owner['id']}/${verb}`)
      const answer = await a.call('POST', '/v1/product-items', itemBody(owner['id']))
      expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'product_id'])
    }
    const nowhere = await a.call('POST', '/v1/product-items', itemBody('prod_nothing'))
    expect(refusal(nowhere)).toEqual([404, 'RESOURCE_NOT_FOUND', 'product_id'])
  })

  test('what prices rest on is fixed once the item is live; the rest is not', async () => {
    const made = await a.seed.make(productItemResource)
    const url = `/v1/product-items/${made['id']}`
    const calculation = await a.seed.make(meterValueCalculationResource)
    const frozen = {
      reference: 'other',
      type: 'DEDUCTION',
      model_type: 'RECURRING',
      usage_based: { meter_value_calculation_id: calculation['id'] },
    }
    for (const [name, value] of Object.entries(frozen)) {
      expect(refusal(await a.call('PATCH', url, { [name]: value }))).toEqual([400, 'INVALID_FIELD', name])
    }
    expect(refusal(await a.call('PATCH', url, { product_id: made['product_id'] }))).toEqual([
      400,
      'INVALID_FIELD',
      'product_id',
    ])
    const patch = { name: 'Other', unit_name: { plural: 'words' }, tax_category: 'NO_TAX' }
    const unit_name = { singular: 'token', plural: 'words' }
    expect((await a.call('PATCH', url, { ...patch, unit_name })).body).toMatchObject({ ...patch, unit_name })
  })

  test('PUT creates once and then updates; what may not change may be repeated', async () => {
    const owner = await product()
    const body = itemBody(owner['id'], { status: 'ACTIVE' })
    expect((await a.call('PUT', '/v1/product-items', body)).status).toBe(201)
    const again = await a.call('PUT', '/v1/product-items', { ...body, description: 'Seats.' })
    expect([again.status, again.body['description']]).toEqual([200, 'Seats.'])
    const elsewhere = { ...body, product_id: (await product())['id'] }
    expect(refusal(await a.call('PUT', '/v1/product-items', elsewhere))).toEqual([400, 'INVALID_FIELD', 'product_id'])
  })

  test('one that a pricing names is not deleted', async () => {
    const owner = await product()
    const one = await item(owner['id'])
    const version = (await a.seed.make(pricingResource))['pricing_plan_version_id']
    const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '1', currency: 'EUR' } }] }]
    const body = {
      pricing_plan_version_id: version,
      product_ids: [owner['id']],
      items: [{ product_item_ids: [one['id']], configs }],
    }
    expect((await a.call('POST', '/v1/pricings', body)).status).toBe(201)
    const kept = await a.call('DELETE', `/v1/product-items/${one['id']}`)
    expect(kept.body).toMatchObject({ code: 'COULD_NOT_DELETE_RESOURCE', resource_type: 'PRODUCT_ITEM' })
  })
})

test('a category is shared by nobody: the same reference is free for another tenant', async () => {
  const made = await a.seed.make(productCategoryResource)
  const body = { reference: made['reference'], name: 'Theirs' }
  expect((await api.tenants.bLive.call('POST', '/v1/product-categories', body)).status).toBe(201)
  expect((await a.call('POST', '/v1/product-categories', body)).body['code']).toBe('RESOURCE_ALREADY_EXISTS')
})
