// Prices in credits that cannot be billed are refused by their field.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { customerResource } from '../../parties/customers/resource.ts'

import { creditSales, LACK } from '../testing/credit-sales.ts'
import type { Selling } from '../testing/sold-plans.ts'

let api: ApiHarness
let tenant: TestTenant
let sales: Awaited<ReturnType<typeof creditSales>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bTest
  sales = await creditSales(api, tenant, NO_USAGE)
})
afterAll(() => api?.close())

test('a price in credits that cannot be billed is refused by its field', async () => {
  const refused = async (all: readonly Selling[]) => refusal((await sales.version(all)).priced).slice(1)
  const config = 'items.0.configs.0'
  const month = { type: 'MONTH', value: 1 }
  const mixed = { ...sales.CALL(), bands: [{ credits: sales.credit('1'), amount: eur('1') }] }
  expect(await refused([sales.usageOf(mixed), sales.selling])).toEqual(['INVALID_FIELD', `${config}.bands.0.amount`])
  for (const name of ['billing_period', 'pricing_period'])
    expect(await refused([sales.usageOf({ ...sales.CALL(), [name]: month }), sales.selling])).toEqual([
      'INVALID_FIELD',
      `${config}.${name}`,
    ])
  expect(await refused([{ model: 'RECURRING', config: { ...sales.CALL(), pricing_type: 'FIXED' } }])).toEqual([
    'INVALID_FIELD',
    `${config}.bands.0.credits`,
  ])
  const wider = { ...LACK, pricing_period: { type: 'MONTH', value: 3 }, billing_period: month }
  expect(await refused([{ model: 'CREDITS', config: wider }])).toEqual(['INVALID_FIELD', `${config}.pricing_period`])
  const other = { model: 'CREDITS', config: { ...LACK, billing_period: { type: 'MONTH', value: 3 } } }
  expect(await refused([sales.selling, other])).toEqual(['INVALID_FIELD', 'items.1.configs.0.billing_period'])
  const item = await tenant.call('POST', '/v1/product-items', {
    reference: tenant.seed.unique('item'),
    product_id: (await sales.post('products', { reference: tenant.seed.unique('p'), name: 'P', status: 'ACTIVE' }))[
      'id'
    ],
    name: 'Credits',
    model_type: 'CREDITS',
  })
  expect(refusal(item)).toEqual([400, 'MISSING_FIELD', 'credits.credit_type_id'])
})

test('a schedule takes no credits by a pricing period that is wider than its billing period', async () => {
  sales.setTime('2026-04-01T00:00:00Z')
  const quarterly = { ...LACK, pricing_period: { type: 'MONTH', value: 3 } }
  const { id: versionId, priced } = await sales.version([sales.usageOf(), { model: 'CREDITS', config: quarterly }])
  expect(priced.status).toBe(201)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const { id } = await sales.post('pricing-plan-subscriptions', {
    customer_id: (await tenant.seed.make(customerResource))['id'],
    billing_entity_id: sales.of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  const schedule = {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id: versionId,
    start_at: '2026-04-01T00:00:00Z',
  }
  const monthly = await tenant.call('POST', '/v1/pricing-plan-schedules', schedule)
  expect(refusal(monthly)).toEqual([400, 'INVALID_FIELD', 'billing_period'])
  const period = { type: 'MONTH', value: 6 }
  expect(
    (await tenant.call('POST', '/v1/pricing-plan-schedules', { ...schedule, billing_period: period })).status,
  ).toBe(201)
})

test('a plan and the prices of a schedule sell the same credits by the same periods', async () => {
  sales.setTime('2026-04-01T00:00:00Z')
  const quarterly: Selling = { model: 'CREDITS', config: { ...LACK, billing_period: { type: 'MONTH', value: 3 } } }
  const { id: versionId } = await sales.version([sales.selling])
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const { id } = await sales.post('pricing-plan-subscriptions', {
    customer_id: (await tenant.seed.make(customerResource))['id'],
    billing_entity_id: sales.of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  const scheduleWith = async (of: Selling) => {
    const [item] = (await sales.version([of])).items
    const own = {
      product_ids: [item?.['product_id']],
      items: [{ product_item_ids: [item?.['id']], configs: [of.config] }],
    }
    return await tenant.call('POST', '/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: id,
      pricing_plan_version_id: versionId,
      start_at: '2026-04-01T00:00:00Z',
      pricing_categories: [{ pricings: [own] }],
    })
  }
  expect(refusal(await scheduleWith(quarterly))).toEqual([400, 'INVALID_FIELD', 'pricing_categories'])
  expect((await scheduleWith(sales.usageOf())).status).toBe(201)
})

test('a rate card on which schedules use credits of their own sells the credits by the same periods ever after', async () => {
  sales.setTime('2026-04-01T00:00:00Z')
  const [calls, credits] = (await sales.version([sales.usageOf(), sales.selling])).items as [Row, Row]
  const priced = (item: Row, config: object) => ({
    product_ids: [item['product_id']],
    items: [{ product_item_ids: [item['id']], configs: [config] }],
  })
  const card = await sales.post('pricing-plans', { reference: tenant.seed.unique('card'), variant: 'RATE_CARD' })
  const versionFrom = async (start_at: string, config: object) => {
    const version = await sales.post('pricing-plan-versions', { pricing_plan_id: card['id'], rate_card: { start_at } })
    await sales.post('pricings', {
      pricing_plan_version_id: version['id'],
      name: 'Credits',
      ...priced(credits, config),
    })
    return await tenant.call('PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  }
  expect((await versionFrom('2026-01-01T00:00:00Z', LACK)).status).toBe(200)
  const { id } = await sales.post('pricing-plan-subscriptions', {
    customer_id: (await tenant.seed.make(customerResource))['id'],
    billing_entity_id: sales.of.billingEntity['id'],
    billing_currency: 'EUR',
  })
  await sales.post('pricing-plan-schedules', {
    pricing_plan_subscription_id: id,
    pricing_plan_version_selector: { pricing_plan_id: card['id'] },
    start_at: '2026-04-01T00:00:00Z',
    pricing_categories: [{ pricings: [priced(calls, sales.CALL())] }],
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  const quarterly = { ...LACK, billing_period: { type: 'MONTH', value: 3 } }
  expect(refusal(await versionFrom('2026-07-01T00:00:00Z', quarterly))).toEqual([400, 'INVALID_FIELD', 'status'])
  expect((await versionFrom('2026-07-01T00:00:00Z', LACK)).status).toBe(200)
})
