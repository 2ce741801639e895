// What a pricing may say, through the api (semantics 3.1-3.3).

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, FLAT, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { meterResource } from '../meters/meter.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import { productItemResource, productResource } from '../products/product.ts'
import { pricingResource } from './pricing.ts'
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

describe('pricings', () => {
  test('are stored canonical: ids given, both names of the type, defaults filled in', async () => {
    const { item, answer } = await catalog.draft({
      type: 'FLAT',
      bands: [{ amount: eur('0.015'), block_size: { number: '1000' } }],
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      object_type: 'PRICING',
      product_type: 'DEFAULT',
      product_ids: [item['product_id']],
    })
    expect(typeof answer.body['name']).toBe('string')
    expect(answer.body['items']).toEqual([
      {
        object_type: 'PRICING_ITEM',
        id: expect.stringMatching(/^prii_/),
        product_item_ids: [item['id']],
        display_order: null,
        configs: [
          {
            object_type: 'PRICING_ITEM_CONFIG',
            id: expect.stringMatching(/^pico_/),
            pricing_type: 'FLAT',
            type: 'FLAT',
            billing_period: null,
            pricing_period: null,
            bands: [{ amount: eur('0.015'), block_size: { number: '1000' } }],
            order: 0,
            billing_in_advance: false,
            conditions: null,
            top_up: null,
            step_accumulation: null,
            rate_per: null,
            default_included_volume: null,
            tiering_conditions: null,
            volume_group_reference: null,
            split_pricing: null,
            default_units: null,
            default_seats_value: null,
            on_demand: false,
            wallet_grants: null,
          },
        ],
      },
    ])
    expect((await a.call('GET', `/v1/pricings/${answer.body['id']}`)).body).toEqual(answer.body)
    const expanded = await a.call('GET', `/v1/pricings/${answer.body['id']}?expand[]=products`)
    expect(expanded.body['products']).toMatchObject([{ object_type: 'PRODUCT', id: item['product_id'] }])
  })

  test('keep the ids that are sent back, give new ones where none is, and take none from elsewhere', async () => {
    const { answer } = await catalog.draft()
    const url = `/v1/pricings/${answer.body['id']}`
    const [item] = answer.body['items']
    const cheaper = { ...item.configs[0], bands: [{ amount: eur('0.01') }] }
    const patched = await a.call('PATCH', url, { items: [{ ...item, configs: [cheaper] }] })
    expect(patched.status).toBe(200)
    expect(patched.body['items'][0]).toMatchObject({
      id: item.id,
      configs: [{ id: item.configs[0].id, bands: cheaper.bands }],
    })
    const { id: _id, ...fresh } = cheaper
    const renewed = await a.call('PATCH', url, { items: [{ ...item, configs: [fresh] }] })
    expect(renewed.body['items'][0].id).toBe(item.id)
    expect(renewed.body['items'][0].configs[0].id).not.toBe(item.configs[0].id)
    const stranger = (await catalog.draft()).answer.body['items'][0]
    const refused = await a.call('PATCH', url, { items: [{ ...item, id: stranger.id }] })
    expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'items.0.id'])
    const chosen = await a.call('PATCH', url, {
      items: [{ ...item, configs: [{ ...fresh, id: stranger.configs[0].id }] }],
    })
    expect(refusal(chosen)).toEqual([400, 'INVALID_FIELD', 'items.0.configs.0.id'])
  })

  test('name things that exist, belong together and can still be sold', async () => {
    const version = await a.seed.make(pricingPlanVersionResource)
    const item = await a.seed.make(productItemResource)
    const post = async (product_ids: unknown[], product_item_ids: unknown[]) =>
      refusal(
        await a.call('POST', '/v1/pricings', {
          pricing_plan_version_id: version['id'],
          product_ids,
          items: [{ product_item_ids, configs: [FLAT] }],
        }),
      )
    const stranger = await a.seed.make(productResource)
    const place = 'items.0.product_item_ids'
    expect(await post([item['product_id'], 'prod_nothing'], [item['id']])).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'product_ids.1',
    ])
    expect(await post([item['product_id']], ['proi_nothing'])).toEqual([404, 'RESOURCE_NOT_FOUND', `${place}.0`])
    expect(await post([stranger['id']], [item['id']])).toEqual([400, 'INVALID_FIELD', `${place}.0`])
    expect(await post([item['product_id']], [])).toEqual([400, 'INVALID_FIELD', place])
    expect(await post([item['product_id']], [item['id'], item['id']])).toEqual([400, 'INVALID_FIELD', place])
    expect(await post([], [item['id']])).toEqual([400, 'INVALID_FIELD', 'product_ids'])
    await a.call('POST', `/v1/product-items/${item['id']}/deprecate`)
    expect(await post([item['product_id']], [item['id']])).toEqual([400, 'INVALID_FIELD', `${place}.0`])
    await a.call('POST', `/v1/products/${item['product_id']}/deprecate`)
    expect(await post([item['product_id']], [item['id']])).toEqual([400, 'INVALID_FIELD', 'product_ids.0'])
    await a.call('POST', `/v1/products/${stranger['id']}/archive`)
    expect(await post([stranger['id']], [item['id']])).toEqual([400, 'INVALID_FIELD', 'product_ids.0'])
  })

  test('price a product item once, by one default at most', async () => {
    const { item, body } = await catalog.draft()
    const entry = { product_item_ids: [item['id']], configs: [FLAT] }
    const twice = await a.call('POST', '/v1/pricings', { ...body, items: [entry, entry] })
    expect(refusal(twice)).toEqual([400, 'INVALID_FIELD', 'items.1.product_item_ids.0'])
    for (const [configs, field] of [
      [[], 'configs'],
      [[FLAT, FLAT], 'configs.1.conditions'],
    ] as const) {
      const answer = await a.call('POST', '/v1/pricings', { ...body, items: [{ ...entry, configs }] })
      expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', `items.0.${field}`])
    }
  })

  const config = 'items.0.configs.0'
  test.each([
    ['a type that is not priced', { pricing_type: 'PER_UNIT' }, 'INVALID_FIELD', `${config}.pricing_type`],
    ['the same under its other name', { type: 'PER_UNIT' }, 'INVALID_FIELD', `${config}.type`],
    ['no type', { bands: [] }, 'MISSING_FIELD', `${config}.pricing_type`],
    ['two types', { ...FLAT, type: 'FIXED' }, 'INVALID_FIELD', `${config}.type`],
    ['usage in advance', { ...FLAT, billing_in_advance: true }, 'INVALID_FIELD', `${config}.billing_in_advance`],
    ['empty conditions', { ...FLAT, conditions: {} }, 'MISSING_FIELD', `${config}.conditions`],
    ['included volume', { ...FLAT, default_included_volume: {} }, 'INVALID_FIELD', `${config}.default_included_volume`],
    ['credits without a quantity', { ...FLAT, bands: [{ credits: {} }] }, 'MISSING_FIELD', `${config}.bands.0.credits`],
    [
      'two currencies',
      { ...FLAT, bands: [{ amount: eur('1'), fixed_amount: { quantity: '1', currency: 'USD' } }] },
      'INVALID_FIELD',
      `${config}.bands.0.fixed_amount.currency`,
    ],
    [
      'FLAT with two bands',
      { ...FLAT, bands: [{ amount: eur('1') }, { amount: eur('2') }] },
      'INVALID_FIELD',
      `${config}.bands`,
    ],
    ['a band without a price', { ...FLAT, bands: [{}] }, 'MISSING_FIELD', `${config}.bands.0.amount`],
    [
      'a percentage of a number',
      { ...FLAT, bands: [{ percentage: '1' }] },
      'INVALID_FIELD',
      `${config}.bands.0.percentage`,
    ],
    [
      'a float',
      { ...FLAT, bands: [{ amount: { quantity: 1.5, currency: 'EUR' } }] },
      'INVALID_FIELD',
      `${config}.bands.0.amount`,
    ],
  ])('%s is refused', async (_name, given, code, field) => {
    const { answer } = await catalog.draft(given)
    expect(answer.status).toBe(400)
    expect(answer.body['code']).toBe(code)
    expect(String(answer.body['field']).startsWith(field)).toBe(true)
  })

  const tiers = (...bounds: (string | null)[]) => ({
    pricing_type: 'TIERED',
    bands: bounds.map(number => ({ amount: eur('1'), ...(number === null ? {} : { tier_top_bound: { number } }) })),
  })
  test.each([
    ['rising, the last open', tiers('1000', '10000', null), null],
    ['not rising', tiers('1000', '1000', null), 'bands.1.tier_top_bound'],
    ['closed at the end', tiers('1000', '10000'), 'bands.1.tier_top_bound'],
    ['open in the middle', tiers(null, '10', null), 'bands.0.tier_top_bound'],
    ['from zero', tiers('0', null), 'bands.0.tier_top_bound'],
  ])('tiers %s', async (_name, given, fault) => {
    const { answer } = await catalog.draft(given)
    expect(refusal(answer)).toEqual(fault ? [400, 'INVALID_FIELD', `${config}.${fault}`] : [201, undefined, undefined])
  })

  test('include volume, by default anew each billing period; what does not fit what is metered is refused', async () => {
    const priced = (default_included_volume: object) => catalog.draft({ ...FLAT, default_included_volume })
    const { answer } = await priced({ number: '100' })
    expect(answer.body['items'][0].configs[0].default_included_volume).toEqual({
      number: '100',
      reset_type: 'BILLING_PERIOD',
    })
    const refused = async (included: object) => refusal((await priced(included)).answer)
    const at = 'items.0.configs.0.default_included_volume'
    expect(await refused({ amount: eur('5') })).toEqual([400, 'INVALID_FIELD', `${at}.amount`])
    expect(await refused({ number: '-1' })).toEqual([400, 'INVALID_FIELD', `${at}.number`])
    expect(await refused({ number: '1', reset_type: 'DAILY' })).toEqual([400, 'INVALID_FIELD', `${at}.reset_type`])
  })

  test('place usage on tiers by conditions and groups, where the price has tiers', async () => {
    const property = await a.seed.make(meterPropertyResource)
    const test = { id: property['id'], comparator: 'EQUALS', value: 'eu' }
    const expression = { operator: 'AND', operands: [{ meter_property: test }] }
    const at = 'items.0.configs.0'
    const refused = async (config: object) => refusal((await catalog.draft(config)).answer)
    const grouped = await catalog.draft({ ...tiers('10', null), volume_group_reference: 'tokens' })
    expect(grouped.answer.body['items'][0].configs[0].volume_group_reference).toBe('tokens')
    expect(await refused({ ...FLAT, volume_group_reference: 'tokens' })).toEqual([
      400,
      'INVALID_FIELD',
      `${at}.volume_group_reference`,
    ])
    expect(await refused({ ...FLAT, tiering_conditions: { expression } })).toEqual([
      400,
      'INVALID_FIELD',
      `${at}.tiering_conditions`,
    ])
    expect(
      await refused({ ...tiers('10', null), tiering_conditions: { expression }, volume_group_reference: 'tokens' }),
    ).toEqual([400, 'INVALID_FIELD', `${at}.volume_group_reference`])
    // A property that the meter does not list.
    expect(await refused({ ...tiers('10', null), tiering_conditions: { expression } })).toEqual([
      400,
      'INVALID_FIELD',
      `${at}.tiering_conditions.expression.operands.0.meter_property.id`,
    ])
    expect(await refused({ ...tiers('10', null), tiering_conditions: { name: 'x' } })).toEqual([
      400,
      'MISSING_FIELD',
      `${at}.tiering_conditions.expression`,
    ])
  })

  test('an item that is sold once has units, one that is charged by seats has seats', async () => {
    const once = await catalog.itemOf({ model_type: 'ONE_OFF' })
    const seat = await catalog.itemOf({ model_type: 'PER_SEAT' })
    const units = await catalog.price(once, { ...FLAT, default_units: { number: '3' } })
    expect(units.body['items'][0].configs[0].default_units).toEqual({ number: '3' })
    const seats = await catalog.price(seat, { ...FLAT, default_seats_value: { number: '5' } })
    expect(seats.body['items'][0].configs[0].default_seats_value).toEqual({ number: '5' })
    const at = 'items.0.configs.0'
    const refused = async (item: Row, config: object) => refusal(await catalog.price(item, { ...FLAT, ...config }))
    expect(await refused(once, { default_units: { amount: eur('1') } })).toEqual([
      400,
      'INVALID_FIELD',
      `${at}.default_units.amount`,
    ])
    expect(await refused(seat, { default_units: { number: '1' } })).toEqual([
      400,
      'INVALID_FIELD',
      `${at}.default_units`,
    ])
  })

  test('a RECURRING item takes a lump sum, also in advance, and nothing else', async () => {
    const item = await catalog.itemOf({})
    const fixed = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('100') }], billing_in_advance: true }
    expect((await catalog.price(item, fixed)).status).toBe(201)
    for (const pricing_type of ['FLAT', 'TIERED', 'NONE']) {
      expect(refusal(await catalog.price(item, { ...fixed, pricing_type }))).toEqual([
        400,
        'INVALID_FIELD',
        `${config}.pricing_type`,
      ])
    }
  })

  test('metered money takes percentages and bounds in money', async () => {
    const item = await catalog.moneyItem()
    expect(
      (await catalog.price(item, { pricing_type: 'FLAT', bands: [{ percentage: '1.4', amount: eur('0.25') }] })).status,
    ).toBe(201)
    const bands = [{ percentage: '2', tier_top_bound: { amount: eur('1000') } }, { percentage: '1' }]
    expect((await catalog.price(item, { pricing_type: 'TIERED', bands })).status).toBe(201)
  })

  test.each([
    ['MONTH', 1, 'MONTH', 3, 201],
    ['MONTH', 1, 'YEAR', 1, 201],
    ['DAY', 7, 'WEEK', 2, 201],
    ['MONTH', 2, 'MONTH', 3, 400],
    ['YEAR', 1, 'MONTH', 1, 400],
    ['WEEK', 1, 'MONTH', 1, 400],
  ])('usage priced per %s:%d and billed per %s:%d answers %d', async (type, value, billed, times, status) => {
    const { answer } = await catalog.draft({
      ...FLAT,
      pricing_period: { type, value },
      billing_period: { type: billed, value: times },
    })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body['field']).toBe(`${config}.pricing_period`)
  })

  test.each(['override', 'pricing_plan_schedule_id'])('%s is refused by name', async name => {
    const { body } = await catalog.draft()
    const answer = await a.call('POST', '/v1/pricings', { ...body, [name]: [] })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', name])
  })

  test('are changed with their notice and deleted while their version is DRAFT', async () => {
    const pricing = await a.seed.make(pricingResource)
    const url = `/v1/pricings/${pricing['id']}`
    expect((await a.call('PATCH', url, { display_order: 3, name: 'Tokens' })).body).toMatchObject({
      display_order: 3,
      name: 'Tokens',
    })
    expect((await a.call('PATCH', url, { display_order: null })).body['display_order']).toBe(null)
    expect((await a.call('DELETE', url)).status).toBe(200)
    const events = await noticesOf(api, pricing['id'])
    expect(events.map(event => event['type'])).toEqual([
      'PRICING.CREATED',
      'PRICING.UPDATED',
      'PRICING.UPDATED',
      'PRICING.DELETED',
    ])
    expect(events[1]?.['previous_data']).toMatchObject({ display_order: null, name: pricing['name'] })
  })
})

test('a meter that has no calculation cannot be sold', async () => {
  const meter = await a.seed.make(meterResource)
  const product = await a.seed.make(productResource)
  const body = { product_id: product['id'], reference: a.seed.unique('i'), name: 'I', model_type: 'USAGE_BASED' }
  const without = await a.call('POST', '/v1/product-items', body)
  expect(refusal(without)).toEqual([400, 'MISSING_FIELD', 'usage_based.meter_value_calculation_id'])
  const meterInstead = await a.call('POST', '/v1/product-items', {
    ...body,
    usage_based: { meter_value_calculation_id: meter['id'] },
  })
  expect(refusal(meterInstead)).toEqual([404, 'RESOURCE_NOT_FOUND', 'usage_based.meter_value_calculation_id'])
})
