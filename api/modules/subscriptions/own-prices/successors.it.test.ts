// What comes after a schedule with prices of its own: copies, other versions, templates, and its deletion (semantics 4.3).
import { expect, test } from 'vitest'
import type { Row } from '../../../testing/wire.ts'
import { salesRig } from '../../billing/testing/sales-rig.ts'
import { eur, MARCH, MAY, ownPricesOf, pricesOf, pricingsOf, SCHEDULES } from '../testing/own-prices.ts'

const rig = salesRig()
const { get, patch, post, sales, setTime, sql, tenant, unique } = rig
const { drafted, feeOf, planVersion } = ownPricesOf(rig)

test('a copy sells the same prices, and has its own once it is given others', async () => {
  const { pricing } = await feeOf('31')
  const made = await drafted([{ pricings: [pricing] }], { end_at: MAY })
  const [{ id, items }] = pricingsOf(made) as [Row]
  const discount = { pricing_item_configs: [{ ids: [items[0].configs[0].id], percentage: '10' }] }
  await patch(`${SCHEDULES}/${made['id']}`, { discount })
  const copy = await post(`${SCHEDULES}/${made['id']}/copy`, {})
  expect(copy).toMatchObject({ start_at: MAY, pricing_plan_id: null, discount })
  expect(pricingsOf(copy)).toMatchObject([{ id, pricing_plan_schedule_id: copy['id'] }])
  const cheaper = structuredClone(pricingsOf(copy)[0]) as Row
  cheaper['items'][0].configs[0].bands[0].fixed_amount = eur('30')
  const changed = await patch(`${SCHEDULES}/${copy['id']}`, { pricing_categories: [{ pricings: [cheaper] }] })
  const [own] = pricingsOf(changed)
  expect(own?.['id']).not.toBe(id)
  // What was limited to the price is limited to the one that it became.
  expect(changed['discount'].pricing_item_configs[0].ids).toEqual([own?.['items'][0].configs[0].id])
  expect([pricesOf(changed), pricesOf(await get(`${SCHEDULES}/${made['id']}`))]).toEqual([['Extra 30'], ['Extra 31']])
  expect((await tenant.call('DELETE', `/v1/${SCHEDULES}/${copy['id']}`)).status).toBe(200)
  expect(await sql('select id from pricings where id = $1', [own?.['id']])).toEqual([])
  expect(await sql('select id from pricings where id = $1', [id])).toHaveLength(1)
})

test('another version of the plan keeps them with what is agreed on them, and another plan does not', async () => {
  const { pricing } = await feeOf('31')
  const plan = await post('pricing-plans', { reference: unique('plan') })
  const base = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  const versions: string[] = []
  for (const price of ['10', '20']) {
    const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
    await sales.feePricing(version['id'], base, price)
    await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    versions.push(version['id'])
  }
  const addon = { ...(await feeOf('7')).pricing, product_type: 'ADDON', name: 'Phone' }
  const made = await drafted([{ pricings: [pricing, addon] }], { pricing_plan_version_id: versions[0], end_at: MAY })
  const phone = pricingsOf(made).find(({ name }) => name === 'Phone') as Row
  const configId = phone['items'][0].configs[0].id
  const stated = {
    enabled_pricings: [{ pricing_id: phone['id'] }],
    discount: { pricing_item_configs: [{ ids: [configId], percentage: '50' }], totals: [{ percentage: '1' }] },
    commitment: { pricing_item_configs: [{ ids: [configId], amount: eur('2') }] },
    markup: { pricing_item_configs: [{ ids: [configId], percentage: '3' }] },
  }
  await patch(`${SCHEDULES}/${made['id']}`, stated)
  const next = await post(`${SCHEDULES}/${made['id']}/migrate`, { pricing_plan_version_id: versions[1] })
  expect(next).toMatchObject({ ...stated, pricing_plan_version_id: versions[1] })
  expect(pricingsOf(next).map(({ id }) => id)).toEqual(pricingsOf(made).map(({ id }) => id))
  const body = { pricing_plan_version_id: await planVersion(), start_at: '2026-06-01T00:00:00Z' }
  const other = await post(`${SCHEDULES}/${next['id']}/migrate?set_previous_end_at=true`, body)
  expect(other).toMatchObject({ enabled_pricings: [], discount: { totals: [{ percentage: '1' }] }, markup: null })
  expect(pricingsOf(other)).toEqual([])
})

test('a template gives them to every subscription that is made from it, and a subscription to its copy', async () => {
  const { pricing } = await feeOf('31')
  setTime('2026-03-01T01:00:00Z')
  const template = await post('pricing-plan-subscriptions', {
    type: 'TEMPLATE',
    billing_entity_id: await sales.billingEntity(),
    billing_currency: 'EUR',
  })
  const of = { pricing_plan_subscription_id: template['id'] }
  const made = await drafted([{ pricings: [pricing] }], of)
  await patch(`pricing-plan-subscriptions/${template['id']}`, { status: 'ACTIVE' })
  const ids: unknown[] = []
  for (const start of [MARCH, MAY]) {
    const subscription = await post('pricing-plan-subscriptions/init', {
      template_pricing_plan_subscription_id: template['id'],
      customer_id: await sales.customer(),
      pricing_plan_subscription_start_at: start,
      status: 'ACTIVE',
    })
    const [schedule] = subscription['pricing_plan_schedules']
    expect(schedule).toMatchObject({ start_at: start, status: 'ACTIVE', pricing_plan_id: null })
    ids.push(pricingsOf(schedule)[0]?.['id'])
    const copy = await post(`pricing-plan-subscriptions/${subscription['id']}/copy`, {})
    const { data } = await get(`${SCHEDULES}?pricing_plan_subscription_id=${copy['id']}`)
    ids.push(pricingsOf(data[0])[0]?.['id'])
  }
  expect(new Set(ids)).toEqual(new Set([pricingsOf(made)[0]?.['id']]))
})

test('init in full takes them', async () => {
  const { pricing } = await feeOf('31')
  const { customer_id, billing_entity_id, billing_currency } = await sales.subscription()
  const made = await post('pricing-plan-subscriptions/init', {
    pricing_plan_subscription: { customer_id, billing_entity_id, billing_currency, status: 'ACTIVE' },
    pricing_plan_schedules: [{ start_at: MARCH, pricing_categories: [{ pricings: [pricing] }] }],
  })
  expect(pricesOf(made['pricing_plan_schedules'][0])).toEqual(['Extra 31'])
})

test('a deleted draft leaves nothing behind, and neither does a deleted subscription', async () => {
  const { product, pricing } = await feeOf('31')
  const made = await drafted([{ pricings: [pricing] }])
  expect((await tenant.call('DELETE', `/v1/${SCHEDULES}/${made['id']}`)).status).toBe(200)
  const again = await drafted([{ pricings: [pricing] }])
  const subscription = `/v1/pricing-plan-subscriptions/${again['pricing_plan_subscription_id']}`
  expect((await tenant.call('DELETE', subscription)).status).toBe(200)
  expect(await sql('select id from pricings where product_ids @> $1', [[product['id']]])).toEqual([])
  expect(
    await sql(
      'select id from pricing_plan_versions where unlisted and id not in (select pricing_plan_version_id from pricings)',
    ),
  ).toEqual([])
})
