// ADDON products and pricings by the API, down to invoices: what schedules enable, for how long, and what closed invoices keep
// (semantics 3.1).
import { expect, test } from 'vitest'
import { refusal } from '../../../../testing/catalog.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription } from '../../testing/billed-subscription.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, tenant, unique } = salesRig()

/** A subscription since 1 March with a base fee, and an ADDON that it has not enabled. */
async function sell(ofAddon: object = {}) {
  setTime('2026-03-01T01:00:00Z')
  const feature = await post('features', { reference: unique('phone'), type: 'SWITCH' })
  const base = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  const extra = await post('products', {
    reference: unique('extra'),
    name: 'Phone support',
    status: 'ACTIVE',
    product_type: 'ADDON',
    parent_product_id: base['id'],
    features: [{ reference: feature['reference'] }],
  })
  expect(extra['features']).toEqual([{ object_type: 'FEATURE', id: feature['id'], reference: feature['reference'] }])
  const plan = await post('pricing-plans', { reference: unique('plan') })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const always = await sales.feePricing(version['id'], base, '10')
  const entitlements = [{ feature_id: feature['id'], switch: true }]
  const addon = await sales.feePricing(version['id'], extra, '31', { entitlements }, ofAddon)
  expect([always['product_type'], addon['product_type']]).toEqual(['DEFAULT', 'ADDON'])
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const subscription = await sales.subscription()
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at: '2026-03-01T00:00:00Z',
  })
  await patch(`pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  return { base, extra, always, addon, subscription, scheduleId: schedule['id'] as string }
}
type Sold = Awaited<ReturnType<typeof sell>>

const enable = ({ scheduleId }: Pick<Sold, 'scheduleId'>, enabled_pricings: readonly object[]) =>
  tenant.call('PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, { enabled_pricings })
/** The lines of the first invoice: `2026-03-01..2026-04-01 10.00`. */
async function firstLines({ subscription }: Sold): Promise<string[]> {
  const query = `pricing_plan_subscription_id=${subscription['id']}&order_by=created_at&order_direction=ASC`
  const [first] = (await get(`invoices?${query}`))['data']
  return invoiceLines(await get(`invoices/${first['id']}`))
}
const features = async ({ subscription }: Sold): Promise<number> =>
  (await get(`customers/${subscription['customer_id']}/entitlements`))['entitlements'].length

test('an ADDON is billed, and grants its features, only while the schedule has it enabled', async () => {
  const sold = await sell()
  expect(await features(sold)).toBe(0)
  const window = { pricing_id: sold.addon['id'], start_at: '2026-03-11T00:00:00Z', end_at: '2026-04-11T00:00:00Z' }
  const enabled = await enable(sold, [window])
  expect([enabled.status, enabled.body['enabled_pricings']]).toEqual([200, [window]])
  setTime('2026-03-12T00:00:00Z')
  expect(await features(sold)).toBe(1)
  await bill(sold.subscription['id'], '2026-04-02T00:00:00Z')
  // Pricings that were created in the same second, without display_order, are in no particular order.
  expect((await firstLines(sold)).toSorted()).toEqual(['2026-03-01..2026-04-01 10.00', '2026-03-11..2026-04-01 21.00'])
  setTime('2026-04-12T00:00:00Z')
  expect(await features(sold)).toBe(0)
  await bill(sold.subscription['id'], '2026-04-12T00:00:00Z')
  const closed = await enable(sold, [{ ...window, end_at: '2026-03-21T00:00:00Z' }])
  expect(refusal(closed)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings.0.end_at'])
  expect((await enable(sold, [{ ...window, end_at: '2026-04-21T00:00:00Z' }])).status).toBe(200)
})

test('an ADDON paid ahead that is enabled during the first period is on the next invoice, as the preview shows', async () => {
  const sold = await sell({ billing_in_advance: true })
  await bill(sold.subscription['id'], '2026-03-02T00:00:00Z')
  expect((await enable(sold, [{ pricing_id: sold.addon['id'], start_at: '2026-03-11T00:00:00Z' }])).status).toBe(200)
  await bill(sold.subscription['id'], '2026-03-12T00:00:00Z')
  const { subscription } = sold
  const { data } = await get(`invoices?pricing_plan_subscription_id=${subscription['id']}`)
  expect(data.map((row: Row) => row['status'])).toEqual(['OPEN'])
  const named = { pricing_plan_subscription_id: subscription['id'] }
  expect((await post('invoices/preview', named))['invoice']).toMatchObject({
    billing_period_date: '2026-04-01T00:00:00Z',
  })
  // March: the base fee and 21 of 31 days; April ahead.
  expect((await firstLines(sold)).toSorted()).toEqual([
    '2026-03-01..2026-04-01 10.00',
    '2026-03-11..2026-04-01 21.00',
    '2026-04-01..2026-05-01 31.00',
  ])
})

test('what cannot be enabled is refused, naming the entry', async () => {
  const sold = await sell()
  const pricing_id = sold.addon['id']
  const cases: readonly (readonly [readonly object[], string, string])[] = [
    [[{ pricing_id: sold.always['id'] }], 'INVALID_FIELD', 'enabled_pricings.0.pricing_id'],
    [[{ pricing_id: 'prcg_unknown' }], 'RESOURCE_NOT_FOUND', 'enabled_pricings.0.pricing_id'],
    [[{ pricing_id }, { pricing_id, start_at: '2026-05-01T00:00:00Z' }], 'INVALID_FIELD', 'enabled_pricings.1'],
    [[{ pricing_id, end_at: '2026-02-01T00:00:00Z' }], 'INVALID_FIELD', 'enabled_pricings.0.end_at'],
    [
      [{ pricing_id, start_at: '2026-05-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }],
      'INVALID_FIELD',
      'enabled_pricings.0.end_at',
    ],
  ]
  for (const [entries, code, field] of cases) {
    const answer = await enable(sold, entries)
    expect([answer.body['code'], answer.body['field']]).toEqual([code, field])
  }
})

test('an ADDON that is off keeps no other subscription from billing its meter, and is not enabled for what that has billed', async () => {
  setTime('2026-03-01T01:00:00Z')
  const theirs = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })
  await bill(theirs.subscriptionId, '2026-04-02T00:00:00Z', '2026-04-12T00:00:00Z')
  const product = await post('products', { reference: unique('usage'), name: 'Usage', status: 'ACTIVE' })
  const item = await post('product-items', {
    reference: unique('tokens'),
    product_id: product['id'],
    name: 'Tokens',
    status: 'ACTIVE',
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: theirs.calculationId },
  })
  const plan = await post('pricing-plans', { reference: unique('plan') })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const configs = [{ pricing_type: 'FLAT', bands: [{ amount: { quantity: '1', currency: 'EUR' } }] }]
  const addon = await post('pricings', {
    pricing_plan_version_id: version['id'],
    product_ids: [product['id']],
    product_type: 'ADDON',
    items: [{ product_item_ids: [item['id']], configs }],
  })
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const { billing_entity_id } = await get(`pricing-plan-subscriptions/${theirs.subscriptionId}`)
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: theirs.customerId,
    billing_entity_id,
    billing_currency: 'EUR',
  })
  const schedule = await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: version['id'],
    start_at: '2026-03-01T00:00:00Z',
  })
  await patch(`pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  const from = (start_at: string) => enable({ scheduleId: schedule['id'] }, [{ pricing_id: addon['id'], start_at }])
  expect(await from('2026-03-11T00:00:00Z')).toMatchObject({
    status: 400,
    body: { code: 'INVALID_OPERATION', resource_id: theirs.subscriptionId },
  })
  expect((await from('2026-04-01T00:00:00Z')).status).toBe(200)
})

test('products above one another, and the features that they name, stay', async () => {
  const { base, extra } = await sell()
  const circle = await tenant.call('PATCH', `/v1/products/${base['id']}`, { parent_product_id: extra['id'] })
  expect(refusal(circle)).toEqual([400, 'INVALID_FIELD', 'parent_product_id'])
  const itself = await tenant.call('PATCH', `/v1/products/${base['id']}`, { parent_product_id: base['id'] })
  expect(refusal(itself)).toEqual([400, 'INVALID_FIELD', 'parent_product_id'])
  const [feature] = extra['features']
  expect((await tenant.call('DELETE', `/v1/features/${feature.id}`)).status).toBe(409)
  const twice = await tenant.call('PATCH', `/v1/products/${extra['id']}`, { features: [feature, { id: feature.id }] })
  expect(refusal(twice)).toEqual([400, 'INVALID_FIELD', 'features.1'])
  const children = await get(`products?parent_product_id=${base['id']}&expand[]=parent_product`)
  expect(children['data'].map((each: Row) => [each['id'], each['parent_product'].id])).toEqual([
    [extra['id'], base['id']],
  ])
})

test('stay enabled in another version of the plan, until they were to end', async () => {
  const sold = await sell()
  const { scheduleId, addon } = sold
  await enable(sold, [{ pricing_id: addon['id'], end_at: '2026-09-01T00:00:00Z' }])
  const { pricing_plan_id, id: version } = await get(`pricing-plan-versions/${addon['pricing_plan_version_id']}`)
  const next = await post('pricing-plan-versions', { pricing_plan_id, copied_from_pricing_plan_version_id: version })
  await patch(`pricing-plan-versions/${next['id']}`, { status: 'ACTIVE' })
  const moved = await post(`pricing-plan-schedules/${scheduleId}/migrate?set_previous_end_at=true`, {
    pricing_plan_version_id: next['id'],
    start_at: '2026-05-01T00:00:00Z',
  })
  const [enabled] = moved['enabled_pricings']
  expect(moved['enabled_pricings']).toEqual([{ pricing_id: expect.any(String), end_at: '2026-09-01T00:00:00Z' }])
  expect(await get(`pricings/${enabled.pricing_id}`)).toMatchObject({
    pricing_plan_version_id: next['id'],
    product_type: 'ADDON',
  })
})

test('products that one billing entity alone sells are sold by its subscriptions and invoices alone', async () => {
  const [own, other] = [await sales.billingEntity(), await sales.billingEntity()]
  const productOf = (billing_entity_id: string | null, over: object = {}) =>
    post('products', { reference: unique('local'), name: 'Local', billing_entity_id, ...over })
  const versionOf = async (products: readonly Row[]) => {
    const plan = await post('pricing-plans', { reference: unique('plan') })
    const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
    const pricings: Row[] = []
    for (const product of products) pricings.push(await sales.feePricing(version['id'], product, '10'))
    return { id: version['id'] as string, pricings }
  }
  const activate = (url: string) => tenant.call('PATCH', `/v1/${url}`, { status: 'ACTIVE' })
  const schedule = (subscription: Row, version: string, over: object = {}) =>
    tenant.call('POST', '/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: subscription['id'],
      pricing_plan_version_id: version,
      start_at: '2026-03-01T00:00:00Z',
      ...over,
    })
  const product = await productOf(other)
  const moved = await patch(`products/${product['id']}`, { billing_entity_id: own })
  expect(moved).toMatchObject({ billing_entity_id: own, status: 'DRAFT' })
  await activate(`products/${product['id']}`)
  const late = await tenant.call('PATCH', `/v1/products/${product['id']}`, { billing_entity_id: other })
  expect(refusal(late)).toEqual([400, 'INVALID_FIELD', 'billing_entity_id'])
  const unknown = await tenant.call('POST', '/v1/products', { name: 'x', billing_entity_id: 'bill_nothing' })
  expect(refusal(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND', 'billing_entity_id'])
  const listed = await get(`products?billing_entity_id=${own}`)
  expect(listed['data'].map((each: Row) => each['id'])).toEqual([product['id']])

  // Always sold: by subscriptions of that billing entity.
  const always = await versionOf([product])
  await activate(`pricing-plan-versions/${always.id}`)
  const ofOther = await sales.subscription({ billing_entity_id: other })
  expect(refusal(await schedule(ofOther, always.id))).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_id'])
  const ofOwn = await sales.subscription({ billing_entity_id: own })
  expect((await schedule(ofOwn, always.id)).status).toBe(201)
  // Judged again when it is activated: until then a subscription may change who bills it.
  await patch(`pricing-plan-subscriptions/${ofOwn['id']}`, { billing_entity_id: other })
  const turned = await activate(`pricing-plan-subscriptions/${ofOwn['id']}`)
  expect(refusal(turned)).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_id'])
  const both = await versionOf([product, await productOf(other, { status: 'ACTIVE' })])
  const unsold = await activate(`pricing-plan-versions/${both.id}`)
  expect(refusal(unsold)).toEqual([400, 'INVALID_OPERATION', 'status'])

  // One plan with an ADDON of each.
  const extra = { status: 'ACTIVE', product_type: 'ADDON' }
  const addons = await versionOf([
    await productOf(null, { status: 'ACTIVE' }),
    await productOf(own, extra),
    await productOf(other, extra),
  ])
  await activate(`pricing-plan-versions/${addons.id}`)
  const [, ours, theirs] = addons.pricings.map(({ id }) => ({ pricing_id: id }))
  const twice = await schedule(ofOther, addons.id, { enabled_pricings: [theirs, ours] })
  expect(refusal(twice)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings.1.pricing_id'])
  const sold = await schedule(ofOther, addons.id, { enabled_pricings: [theirs] })
  expect(sold.status).toBe(201)
  expect((await activate(`pricing-plan-subscriptions/${ofOther['id']}`)).status).toBe(200)
  const more = await enable(
    { scheduleId: sold.body['id'] },
    [theirs, ours].filter(each => each !== undefined),
  )
  expect(refusal(more)).toEqual([400, 'INVALID_FIELD', 'enabled_pricings.1.pricing_id'])

  // One-off invoices.
  const item = await sales.item(product, 'ONE_OFF')
  const pricing_band = { fixed_amount: { quantity: '5', currency: 'EUR' } }
  const line = { product_item_id: item['id'], pricing_type: 'FIXED', pricing_band }
  const customer_id = await sales.customer()
  const oneOff = (billing_entity_id: string) =>
    tenant.call('POST', '/v1/invoices', { customer_id, billing_entity_id, billing_currency: 'EUR', lines: [line] })
  expect(refusal(await oneOff(other))).toEqual([400, 'INVALID_FIELD', 'lines.0.product_item_id'])
  expect((await oneOff(own)).status).toBe(201)
})

test('a copy of a schedule has the ADDONs that are enabled at its start, until they would have ended, and those that come later', async () => {
  const sold = await sell()
  const pricing_id = sold.addon['id']
  const times = [
    { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-11T00:00:00Z' },
    { start_at: '2026-03-21T00:00:00Z', end_at: '2026-05-01T00:00:00Z' },
    { start_at: '2026-05-11T00:00:00Z' },
  ]
  expect(
    (
      await enable(
        sold,
        times.map(time => ({ pricing_id, ...time })),
      )
    ).status,
  ).toBe(200)
  const copied = async (end: object) =>
    (
      await post(`pricing-plan-schedules/${sold.scheduleId}/copy?set_previous_end_at=true`, { start_at: APRIL, ...end })
    )['enabled_pricings']
  expect(await copied({ end_at: '2026-05-01T00:00:00Z' })).toEqual([{ pricing_id, end_at: '2026-05-01T00:00:00Z' }])
})
const APRIL = '2026-04-01T00:00:00Z'
