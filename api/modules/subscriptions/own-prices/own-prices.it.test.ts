// Prices of a schedule without a plan, or on top of one: the calls, what they show and what they refuse (semantics 4.3). What comes after such
// a schedule is in successors.it.test.ts, what is billed in billing/run/billed/own-prices.it.test.ts.
import { describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import type { Row } from '../../../testing/wire.ts'
import { salesRig } from '../../billing/testing/sales-rig.ts'
import { eur, MARCH, MAY, ownPricesOf, pricesOf, pricingsOf, SCHEDULES } from '../testing/own-prices.ts'

const rig = salesRig()
const { get, patch, post, sales, setTime, sql, tenant, unique } = rig
const { change, drafted, feeOf, planVersion } = ownPricesOf(rig)
const overriding = ({ id, configs }: Row, price: string): Row => ({
  original_pricing_item_id: id,
  configs: [{ original_pricing_item_config_id: configs[0].id, bands: [{ fixed_amount: eur(price) }] }],
})

describe('what is shown', () => {
  test('without a plan: its own prices, in the categories of their products, and no plan', async () => {
    const category = await post('product-categories', { reference: unique('support'), name: 'Support' })
    const { product, pricing } = await feeOf('31')
    await patch(`products/${product['id']}`, { category_id: category['id'] })
    const made = await drafted([{ product_category_id: category['id'], pricings: [pricing] }])
    expect(made).toMatchObject({
      status: 'DRAFT',
      pricing_plan_id: null,
      pricing_plan_version_id: null,
      pricing_categories: [
        {
          object_type: 'PRICING_CATEGORY',
          product_category_id: category['id'],
          pricings: [
            {
              object_type: 'PRICING',
              name: 'Extra',
              product_type: 'DEFAULT',
              pricing_plan_version_id: null,
              pricing_plan_schedule_id: made['id'],
              items: [{ object_type: 'PRICING_ITEM', configs: [{ object_type: 'PRICING_ITEM_CONFIG' }] }],
            },
          ],
          pricing_groups: [],
        },
      ],
    })
    const read = await get(`${SCHEDULES}/${made['id']}?include_combined_pricing_plan_version=true`)
    expect(read['pricing_categories']).toEqual(made['pricing_categories'])
    expect(read['combined_pricing_plan_version'] ?? null).toBe(null)
    await patch(`pricing-plan-subscriptions/${made['pricing_plan_subscription_id']}`, { status: 'ACTIVE' })
    const subscription = await get(`pricing-plan-subscriptions/${made['pricing_plan_subscription_id']}`)
    expect(subscription['pricing_plan_schedule_infos']).toMatchObject([
      { id: made['id'], pricing_plan_id: null, pricing_plan_version_id: null },
    ])
    const [pricingId] = pricingsOf(made).map(({ id }) => id)
    expect(await get(`pricings/${pricingId}`)).toMatchObject({ id: pricingId, pricing_plan_version_id: null })
  })

  test('on top of a plan: both in the combined version, its own alone in pricing_categories', async () => {
    const { pricing } = await feeOf('31')
    const version = await planVersion()
    const made = await drafted([{ pricings: [pricing] }], { pricing_plan_version_id: version })
    expect(made['pricing_plan_version_id']).toBe(version)
    expect(pricesOf(made)).toEqual(['Extra 31'])
    const read = await get(`${SCHEDULES}/${made['id']}?include_combined_pricing_plan_version=true`)
    expect(pricesOf(read)).toEqual(['Extra 31'])
    expect(read['combined_pricing_plan_version'].id).toBe(version)
    expect(pricesOf(read['combined_pricing_plan_version']).toSorted()).toEqual(['Base 10', 'Extra 31'])
  })

  test('no list shows the plan behind them, and no call names its version', async () => {
    const { pricing } = await feeOf('31')
    const made = await drafted([{ pricings: [pricing] }])
    const [row] = await sql(
      `select v.id as version, v.pricing_plan_id as plan from pricing_plan_versions v
       join pricings p on p.pricing_plan_version_id = v.id where p.id = $1`,
      [pricingsOf(made)[0]?.['id']],
    )
    const { version, plan } = row as Row
    for (const path of ['pricing-plans', 'pricing-plan-versions']) {
      const { data } = await get(`${path}?limit=100`)
      expect(data.map(({ id }: Row) => id)).not.toEqual(
        expect.arrayContaining([path === 'pricing-plans' ? plan : version]),
      )
    }
    expect((await tenant.call('GET', `/v1/pricing-plans/${plan}`)).status).toBe(404)
    expect((await tenant.call('GET', `/v1/pricing-plan-versions/${version}`)).status).toBe(404)
    const named = { pricing_plan_subscription_id: made['pricing_plan_subscription_id'], start_at: MAY }
    const answer = await tenant.call('POST', `/v1/${SCHEDULES}`, { ...named, pricing_plan_version_id: version })
    expect(refusal(answer)).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_plan_version_id'])
    expect((await get(`pricing-plans?reference=${plan}`))['data']).toEqual([])
  })
})

describe('a change', () => {
  test('replaces the list: what is sent with its id stays what it was, and what is left out goes', async () => {
    const [one, two] = [await feeOf('31'), await feeOf('12')]
    const made = await drafted([{ pricings: [one.pricing, two.pricing] }])
    const [first] = pricingsOf(made).filter(({ product_ids }) => product_ids[0] === one.product['id'])
    const config = first?.['items'][0].configs[0]
    const discount = { pricing_item_configs: [{ ids: [config.id], percentage: '10' }] }
    await patch(`${SCHEDULES}/${made['id']}`, { discount })
    const cheaper = structuredClone(first) as Row
    cheaper['items'][0].configs[0].bands[0].fixed_amount = eur('30')
    const changed = await change(made['id'], { pricing_categories: [{ pricings: [cheaper] }] })
    expect(changed).toMatchObject({ status: 200, body: { discount } })
    expect(pricingsOf(changed.body)).toMatchObject([{ id: first?.['id'], items: [{ configs: [{ id: config.id }] }] }])
    expect(pricesOf(changed.body)).toEqual(['Extra 30'])
    // What nothing sells any more keeps no product from being deleted.
    expect((await sql('select id from pricings where product_ids @> $1', [[two.product['id']]])).length).toBe(0)
    const gone = await change(made['id'], { pricing_categories: [{ pricings: [two.pricing] }] })
    expect(refusal(gone)).toEqual([404, 'RESOURCE_NOT_FOUND', 'discount.pricing_item_configs.0.ids.0'])
  })

  test('that says what is there changes nothing', async () => {
    const { pricing } = await feeOf('31')
    const group = { name: 'Choice', selection_constraint: 'AT_MOST_ONE', pricings: [(await feeOf('5')).pricing] }
    const made = await drafted([{ pricings: [pricing], pricing_groups: [group] }])
    setTime('2026-03-02T00:00:00Z')
    const same = await change(made['id'], { pricing_categories: made['pricing_categories'] })
    expect(same).toMatchObject({ status: 200, body: { updated_at: made['updated_at'] } })
    expect(same.body['pricing_categories']).toEqual(made['pricing_categories'])
  })

  test('that says what is there names its category, and leaves more than empty groups', async () => {
    const { pricing } = await feeOf('31')
    const made = await drafted([{ pricings: [pricing] }], { pricing_plan_version_id: await planVersion() })
    const [category] = made['pricing_categories']
    const other = await post('product-categories', { reference: unique('c'), name: 'C' })
    const at = 'pricing_categories.0'
    for (const [given, code, field] of [
      [{ ...category, product_category_id: other['id'] }, 'INVALID_FIELD', `${at}.product_category_id`],
      [{ ...category, display_order: 3 }, 'INVALID_FIELD', `${at}.display_order`],
      [{ pricing_groups: [{ name: 'Choice' }] }, 'MISSING_FIELD', `${at}.pricing_groups.0.pricings`],
    ] as const)
      expect(refusal(await change(made['id'], { pricing_categories: [given] }))).toEqual([400, code, field])
    const answer = await change(made['id'], { discount: { pricings: [{ ids: ['prcg_none'], percentage: '1' }] } })
    expect(answer.body['message']).toBe('The schedule sells no pricing prcg_none; name one that it sells.')
  })

  test('of a schedule that is ACTIVE is refused, and so are changes of its prices by their own calls', async () => {
    const { product, pricing } = await feeOf('31')
    const made = await drafted([{ pricings: [pricing] }])
    const [{ id }] = pricingsOf(made) as [Row]
    for (const call of [
      () => tenant.call('PATCH', `/v1/pricings/${id}`, { display_order: 2 }),
      () => tenant.call('DELETE', `/v1/pricings/${id}`),
    ])
      expect(await call()).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })
    await patch(`pricing-plan-subscriptions/${made['pricing_plan_subscription_id']}`, { status: 'ACTIVE' })
    const more = [{ pricings: [...pricingsOf(made), (await feeOf('5')).pricing] }]
    expect(refusal(await change(made['id'], { pricing_categories: more }))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_categories',
    ])
    expect((await tenant.call('DELETE', `/v1/products/${product['id']}`)).status).toBe(409)
  })

  test('takes back what overrode them, since they are as the body says', async () => {
    const { pricing } = await feeOf('31')
    const made = await drafted([{ pricings: [pricing] }], { end_at: MAY })
    const copy = await post(`${SCHEDULES}/${made['id']}/copy`, { indexing_settings: { percentage: '10' } })
    expect(pricesOf(copy)).toEqual(['Extra 34.1'])
    // As it is shown, with the ids of what is overridden.
    expect(pricingsOf(copy)).toMatchObject([{ original_pricing_id: pricingsOf(made)[0]?.['id'], override: 'SPECIFIC' }])
    const same = await patch(`${SCHEDULES}/${copy['id']}`, { pricing_categories: copy['pricing_categories'] })
    expect([pricesOf(same), same['override_pricings']]).toEqual([['Extra 34.1'], []])
    const [kept] = pricingsOf(made) as [Row]
    const override = { original_pricing_id: kept['id'], items: [overriding(kept['items'][0], '50')] }
    await patch(`${SCHEDULES}/${made['id']}`, { override_pricings: [override] })
    const other = await patch(`${SCHEDULES}/${made['id']}`, {
      pricing_categories: [{ pricings: [(await feeOf('5')).pricing] }],
    })
    expect([pricesOf(other), other['override_pricings']]).toEqual([['Extra 5'], []])
  })

  test('gives a plan to what had none, and leaves something to sell', async () => {
    const { pricing } = await feeOf('31')
    const made = await drafted([{ pricings: [pricing] }])
    const nothing = await change(made['id'], { pricing_categories: [] })
    expect(refusal(nothing)).toEqual([400, 'MISSING_FIELD', 'pricing_plan_version_id'])
    const version = await planVersion()
    const planned = await patch(`${SCHEDULES}/${made['id']}`, { pricing_plan_version_id: version })
    expect(planned['pricing_plan_version_id']).toBe(version)
    expect(pricesOf(planned)).toEqual(['Extra 31'])
    const without = await patch(`${SCHEDULES}/${made['id']}`, { pricing_categories: null })
    expect(without['pricing_plan_version_id']).toBe(version)
    expect(pricingsOf(without)).toEqual([])
    expect(pricingsOf(await get(`${SCHEDULES}/${made['id']}`))).toEqual([])
  })

  test('to null takes the plan away, which is what is shown without one', async () => {
    const { pricing } = await feeOf('31')
    const { pricing_plan_id } = await get(`pricing-plan-versions/${await planVersion()}`)
    const selected = { pricing_plan_version_selector: { pricing_plan_id } }
    const none = { pricing_plan_id: null, pricing_plan_version_id: null, pricing_plan_version_selector: null }
    const made = await drafted([{ pricings: [pricing] }], selected)
    const without = await patch(`${SCHEDULES}/${made['id']}`, { pricing_plan_version_id: null })
    expect([without, pricesOf(without)]).toMatchObject([none, ['Extra 31']])
    await patch(`${SCHEDULES}/${made['id']}`, selected)
    const { pricing_categories } = made
    const again = await patch(`${SCHEDULES}/${made['id']}`, { pricing_plan_version_id: null, pricing_categories })
    expect([again, pricesOf(again)]).toMatchObject([none, ['Extra 31']])
    await patch(`pricing-plan-subscriptions/${made['pricing_plan_subscription_id']}`, { status: 'ACTIVE' })
    const shown = await patch(`${SCHEDULES}/${made['id']}`, { ...none, pricing_plan_id: undefined, end_at: MAY })
    expect(shown).toMatchObject({ ...none, end_at: MAY })
    const planned = await drafted([], { pricing_plan_version_id: await planVersion() })
    const nothing = await change(planned['id'], { pricing_plan_version_id: null })
    expect(refusal(nothing)).toEqual([400, 'MISSING_FIELD', 'pricing_plan_version_id'])
  })
})

describe('what is refused, by its path', () => {
  test.each<[string, (made: { pricing: Row; product: Row }) => Promise<Row[]> | Row[], string, string]>([
    [
      'a product that is not there',
      ({ pricing }) => [{ pricings: [{ ...pricing, product_ids: ['prod_unknown'] }] }],
      'RESOURCE_NOT_FOUND',
      'pricing_categories.0.pricings.0.product_ids.0',
    ],
    [
      'a price that cannot be',
      ({ pricing }) => [
        {},
        {
          pricing_groups: [
            {
              name: 'Choice',
              pricings: [
                { ...pricing, items: [{ ...pricing['items'][0], configs: [{ pricing_type: 'FIXED', bands: [{}] }] }] },
              ],
            },
          ],
        },
      ],
      'INVALID_FIELD',
      'pricing_categories.1.pricing_groups.0.pricings.0.items.0.configs.0.bands.0.fixed_amount',
    ],
    [
      'an id of something else',
      ({ pricing }) => [{ pricings: [{ ...pricing, id: 'prcg_other' }] }],
      'INVALID_FIELD',
      'pricing_categories.0.pricings.0.id',
    ],
    [
      'a category of another product',
      async ({ pricing }) => [
        {
          product_category_id: (await post('product-categories', { reference: unique('c'), name: 'C' }))['id'],
          pricings: [pricing],
        },
      ],
      'INVALID_FIELD',
      'pricing_categories.0.product_category_id',
    ],
    [
      'an order that the category does not have',
      ({ pricing }) => [{ display_order: 3, pricings: [pricing] }],
      'INVALID_FIELD',
      'pricing_categories.0.display_order',
    ],
    [
      'two groups of one name',
      ({ pricing }) => [{ pricings: [pricing], pricing_groups: [{ name: 'Choice' }, { name: 'Choice' }] }],
      'INVALID_FIELD',
      'pricing_categories.0.pricing_groups.1.name',
    ],
    [
      'another currency',
      ({ pricing }) => [
        {
          pricings: [
            {
              ...pricing,
              items: [
                {
                  ...pricing['items'][0],
                  configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: '1', currency: 'USD' } }] }],
                },
              ],
            },
          ],
        },
      ],
      'INVALID_FIELD',
      'pricing_currency',
    ],
    ['nothing to sell', () => [{ pricings: [] }], 'MISSING_FIELD', 'pricing_plan_version_id'],
    [
      'only empty groups',
      () => [{ pricings: [] }, { pricing_groups: [{ name: 'Choice' }, { name: 'Other', pricings: [] }] }],
      'MISSING_FIELD',
      'pricing_categories.1.pricing_groups.0.pricings',
    ],
    [
      'a member that is not there',
      ({ pricing }) => [{ pricings: [{ ...pricing, price: 3 }] }],
      'INVALID_FIELD',
      'pricing_categories.0.pricings.0.price',
    ],
  ])('%s', async (_title, given, code, field) => {
    setTime('2026-03-01T01:00:00Z')
    const subscription = await sales.subscription()
    const body = {
      pricing_plan_subscription_id: subscription['id'],
      start_at: MARCH,
      pricing_categories: await given(await feeOf('31')),
    }
    expect(refusal(await tenant.call('POST', `/v1/${SCHEDULES}`, body)).slice(1)).toEqual([code, field])
    expect((await get(`${SCHEDULES}?pricing_plan_subscription_id=${subscription['id']}`))['data']).toEqual([])
  })

  test('a product that is not ACTIVE, when the schedule is activated', async () => {
    const { product, pricing } = await feeOf('31')
    const draft = await post('products', { reference: unique('draft'), name: 'Draft' })
    const item = await sales.item(draft, 'RECURRING')
    const unready = {
      ...pricing,
      product_ids: [draft['id']],
      items: [{ ...pricing['items'][0], product_item_ids: [item['id']] }],
    }
    const made = await drafted([{ pricings: [unready, pricing] }])
    const url = `/v1/pricing-plan-subscriptions/${made['pricing_plan_subscription_id']}`
    const answer = await tenant.call('PATCH', url, { status: 'ACTIVE' })
    expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', 'pricing_categories'])
    expect(answer.body['message']).toContain(draft['id'])
    expect(product['status']).toBe('ACTIVE')
  })

  test('a product for another customer alone', async () => {
    const owner = await sales.customer()
    const body = { reference: unique('own'), name: 'Own', status: 'ACTIVE', customer_id: owner }
    const product = await post('products', body)
    const named = { reference: unique('own'), name: 'Own', status: 'ACTIVE', model_type: 'RECURRING' }
    const item = await post('product-items', { ...named, product_id: product['id'], customer_id: owner })
    const { pricing } = await feeOf('31')
    const own = {
      ...pricing,
      product_ids: [product['id']],
      items: [{ ...pricing['items'][0], product_item_ids: [item['id']] }],
    }
    setTime('2026-03-01T01:00:00Z')
    const other = await sales.subscription()
    const given = {
      pricing_plan_subscription_id: other['id'],
      start_at: MARCH,
      pricing_categories: [{ pricings: [own] }],
    }
    expect(refusal(await tenant.call('POST', `/v1/${SCHEDULES}`, given))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_categories.0.pricings.0.product_ids.0',
    ])
    const theirs = await sales.subscription({ customer_id: owner })
    const made = await drafted([{ pricings: [own] }], { pricing_plan_subscription_id: theirs['id'] })
    const url = `/v1/pricing-plan-subscriptions/${theirs['id']}`
    const moved = await tenant.call('PATCH', url, { customer_id: await sales.customer(), status: 'ACTIVE' })
    expect(refusal(moved)).toEqual([400, 'INVALID_FIELD', 'pricing_categories'])
    expect(pricesOf(made)).toEqual(['Own 31'])
  })
})
