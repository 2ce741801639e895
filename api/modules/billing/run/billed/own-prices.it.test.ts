// What is billed of the prices that a schedule has without a plan, or on top of one (semantics 4.3).
import { expect, test } from 'vitest'
import type { Row } from '../../../../testing/wire.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, sql, unique } = salesRig()

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const MARCH = '2026-03-01T00:00:00Z'
const SCHEDULES = 'pricing-plan-schedules'

/** A pricing, as bodies give it, of a new item at so many euros a month. */
async function feeOf(name: string, price: string, { config = {}, ...more }: Row = {}): Promise<Row> {
  const product = await post('products', { reference: unique(name), name, status: 'ACTIVE' })
  const item = await sales.item(product, 'RECURRING')
  const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur(price) }], ...config }]
  return { product_ids: [product['id']], items: [{ product_item_ids: [item['id']], configs }], ...more }
}

/** The id of an ACTIVE version of a plan with a fee of ten euros. */
async function planVersion(plan: Row = {}): Promise<string> {
  const { id } = await post('pricing-plans', { reference: unique('plan'), ...plan })
  const version = await post('pricing-plan-versions', { pricing_plan_id: id })
  const product = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  await sales.feePricing(version['id'], product, '10')
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  return version['id']
}

/** A subscription with one schedule from March on, ACTIVE unless `activate` is false. */
async function subscribed(schedule: Row, activate = true) {
  setTime('2026-03-01T01:00:00Z')
  const subscription = await sales.subscription()
  const made = await post(SCHEDULES, {
    pricing_plan_subscription_id: subscription['id'],
    start_at: MARCH,
    ...schedule,
  })
  if (activate) await patch(`pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  return { id: subscription['id'] as string, schedule: made, customerId: subscription['customer_id'] as string }
}
const own = (...pricings: readonly Row[]): Row => ({ pricing_categories: [{ pricings }] })
const pricingOf = ({ pricing_categories }: Row, name: string): Row =>
  pricing_categories.flatMap(({ pricings }: Row) => pricings).find((each: Row) => each['name'] === name)

/** What every invoice of the subscription charges, the first one first. */
async function lines(id: string): Promise<string[]> {
  const { data } = await get(`invoices?pricing_plan_subscription_id=${id}&include_lines=true`)
  return (
    data
      .filter(({ status }: Row) => status === 'FINAL')
      .toSorted((a: Row, b: Row) => (a['invoice_number'] < b['invoice_number'] ? -1 : 1))
      // Pricings that were created in the same second, without display_order, are in no particular order.
      .flatMap((invoice: Row) => invoiceLines(invoice).toSorted())
  )
}

test('without a plan they alone are billed, with the discount and the minimum on them', async () => {
  const { id, schedule } = await subscribed(own(await feeOf('Extra', '31'), await feeOf('Support', '7')), false)
  const config = pricingOf(schedule, 'Extra')['items'][0].configs[0].id
  await patch(`${SCHEDULES}/${schedule['id']}`, {
    discount: { pricing_item_configs: [{ ids: [config], percentage: '10' }] },
    commitment: { pricings: [{ ids: [pricingOf(schedule, 'Support')['id']], amount: eur('9') }] },
  })
  const preview = await post('invoices/preview', { pricing_plan_subscription_id: id })
  expect(preview['invoice']).toMatchObject({ invoice_amount_excluding_tax: eur('36.90') })
  await patch(`pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  await bill(id, '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
  const { data } = await get(`invoices?pricing_plan_subscription_id=${id}&include_lines=true`)
  const march = data.find(({ status }: Row) => status === 'FINAL')
  expect(march['invoice_amount_excluding_tax']).toEqual(eur('36.90'))
  const [line] = march.periods[0].groups.flatMap((group: Row) => group['lines'])
  const why = await get(`invoices/${march.id}/lines/${line.id}/explanation`)
  expect(why['price']).toMatchObject({
    pricing_plan_id: null,
    pricing_plan_version_id: null,
    pricing_plan_schedule_id: schedule['id'],
  })
})

test('on top of a plan both are billed, an ADDON of them only while it is enabled', async () => {
  const addon = await feeOf('Phone', '31', { product_type: 'ADDON', name: 'Phone' })
  const version = await planVersion()
  const { id, schedule } = await subscribed(
    { ...own(await feeOf('Extra', '5'), addon), pricing_plan_version_id: version },
    false,
  )
  const phone = pricingOf(schedule, 'Phone')
  const window = { pricing_id: phone['id'], start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }
  await patch(`${SCHEDULES}/${schedule['id']}`, { enabled_pricings: [window] })
  await patch(`pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  await bill(id, '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
  expect(await lines(id)).toEqual([
    '2026-03-01..2026-04-01 10.00',
    '2026-03-01..2026-04-01 5.00',
    '2026-03-11..2026-03-21 10.00',
  ])
})

test('on top of a rate card they are billed beside each of its versions', async () => {
  const { id: planId } = await post('pricing-plans', { reference: unique('card'), variant: 'RATE_CARD' })
  const product = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  for (const [start_at, price] of [
    ['2026-01-01T00:00:00Z', '31'],
    ['2026-03-11T00:00:00Z', '62'],
  ] as const) {
    const version = await post('pricing-plan-versions', { pricing_plan_id: planId, rate_card: { start_at } })
    await sales.feePricing(version['id'], product, price)
    await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  }
  const { id } = await subscribed({
    ...own(await feeOf('Extra', '5')),
    pricing_plan_version_selector: { pricing_plan_id: planId },
  })
  await bill(id, '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
  expect(await lines(id)).toEqual([
    '2026-03-01..2026-03-11 10.00',
    '2026-03-01..2026-04-01 5.00',
    '2026-03-11..2026-04-01 42.00',
  ])
})

test('a trial with them charges them, and nothing of its plan', async () => {
  const version = await planVersion()
  const fee = await feeOf('Extra', '31', { config: { billing_in_advance: true } })
  const { id, schedule } = await subscribed(
    { ...own(fee), type: 'TRIAL', end_at: '2026-03-11T00:00:00Z', pricing_plan_version_id: version },
    false,
  )
  const next = { pricing_plan_subscription_id: id, pricing_plan_version_id: version, start_at: schedule['end_at'] }
  await post(SCHEDULES, next)
  await patch(`pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  const times = ['03-01T02', '03-02T02', '03-11T02', '03-12T02', '04-01T02', '04-02T02']
  await bill(id, ...times.map(time => `2026-${time}:00:00Z`))
  // Of the plan 21 of the 31 days.
  expect(await lines(id)).toEqual(['2026-03-01..2026-03-11 10.00', '2026-03-11..2026-04-01 6.77'])
})

test('a copy charges no one-off fee again, and its prices can be indexed', async () => {
  const product = await post('products', { reference: unique('setup'), name: 'Setup', status: 'ACTIVE' })
  const item = await sales.item(product, 'ONE_OFF')
  const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('100') }] }]
  const setup = { product_ids: [product['id']], items: [{ product_item_ids: [item['id']], configs }] }
  const { id, schedule } = await subscribed({
    ...own(setup, await feeOf('Extra', '31')),
    end_at: '2026-03-11T00:00:00Z',
  })
  const copy = await post(`${SCHEDULES}/${schedule['id']}/copy`, { indexing_settings: { percentage: '100' } })
  await post(`${SCHEDULES}/${copy['id']}/activate`, undefined)
  await bill(id, '2026-03-11T01:00:00Z', '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
  expect((await lines(id)).toSorted()).toEqual([
    '2026-03-01..2026-03-11 10.00',
    '2026-03-01..2026-03-11 100.00',
    '2026-03-11..2026-04-01 42.00',
  ])
})

/** A pricing of a new one-off item at 100 euros. */
async function setupFee(): Promise<Row> {
  const product = await post('products', { reference: unique('setup'), name: 'Setup', status: 'ACTIVE' })
  const item = await sales.item(product, 'ONE_OFF')
  const configs = [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('100') }] }]
  return { product_ids: [product['id']], items: [{ product_item_ids: [item['id']], configs }] }
}

test.each<[string, string, () => Promise<Row>]>([
  ['is given other prices', '62', async () => ({})],
  ['is given a plan', '31', async () => ({ pricing_plan_version_id: await planVersion() })],
])('a copy that %s charges no one-off fee again', async (_name, price, more) => {
  const { id, schedule } = await subscribed({
    ...own(await setupFee(), await feeOf('Extra', '31')),
    end_at: '2026-03-11T00:00:00Z',
  })
  const copy = await post(`${SCHEDULES}/${schedule['id']}/copy`, {})
  const changed = structuredClone(copy['pricing_categories'])
  pricingOf({ pricing_categories: changed }, 'Extra')['items'][0].configs[0].bands[0].fixed_amount = eur(price)
  await patch(`${SCHEDULES}/${copy['id']}`, { pricing_categories: changed, ...(await more()) })
  await post(`${SCHEDULES}/${copy['id']}/activate`, undefined)
  await bill(id, '2026-03-11T01:00:00Z', '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
  const charged = (await lines(id)).filter(line => line.endsWith(' 100.00'))
  expect(charged).toEqual(['2026-03-01..2026-03-11 100.00'])
})

test('a change to another billing period of the plan keeps them, and one to another plan credits what they charged ahead', async () => {
  const version = await planVersion()
  const ahead = await feeOf('Extra', '31', { config: { billing_in_advance: true } })
  const { id } = await subscribed({ ...own(ahead), pricing_plan_version_id: version })
  const { pricing_plan_id: from } = await get(`pricing-plan-versions/${version}`)
  const { pricing_plan_id: to } = await get(`pricing-plan-versions/${await planVersion()}`)
  await post('pricing-plan-groups', {
    reference: unique('tiers'),
    status: 'ACTIVE',
    pricing_plan_ids: [from, to],
    upgrade_type: 'IMMEDIATE_PRO_RATA',
    downgrade_type: 'IMMEDIATE_PRO_RATA',
  })
  await bill(id, '2026-03-01T02:00:00Z', '2026-03-02T02:00:00Z')
  expect(await lines(id)).toEqual(['2026-03-01..2026-04-01 31.00'])
  setTime('2026-03-11T00:00:00Z')
  const moved = await post(`pricing-plan-subscriptions/${id}/change-plan`, { pricing_plan_id: to })
  expect(moved['pricing_categories'] ?? []).toEqual([])
  await bill(id, '2026-03-12T00:00:00Z', '2026-04-01T02:00:00Z', '2026-04-02T02:00:00Z')
  const all = await lines(id)
  expect(all.filter(line => line.endsWith('-21.00'))).toHaveLength(1)
  expect(all.filter(line => line.includes('31.00'))).toHaveLength(1)
})

test('what they grant is granted, and what they sell on demand is listed', async () => {
  const feature = await post('features', { reference: unique('phone'), type: 'SWITCH' })
  const entitlements = [{ feature_id: feature['id'], switch: true }]
  const product = await post('products', { reference: unique('visit'), name: 'Visit', status: 'ACTIVE' })
  const item = await sales.item(product, 'ONE_OFF')
  const configs = [{ pricing_type: 'FIXED', on_demand: true, bands: [{ fixed_amount: eur('80') }] }]
  const visit = { product_ids: [product['id']], items: [{ product_item_ids: [item['id']], configs }] }
  const { schedule, customerId } = await subscribed({
    ...own(await feeOf('Extra', '31', { entitlements }), visit),
    pricing_plan_version_id: await planVersion(),
  })
  const granted = await get(`customers/${customerId}/entitlements`)
  expect(granted['entitlements']).toMatchObject([{ feature_id: feature['id'] }])
  const listed = await get(`${SCHEDULES}/${schedule['id']}/on-demand-pricing-items`)
  const names = listed['pricing_categories'].flatMap(({ pricings }: Row) => pricings.map(({ name }: Row) => name))
  expect(names).toEqual(['Visit'])
})

test('what they grant is granted with what the plan and the schedule grant, each once', async () => {
  const seats = await post('features', { reference: unique('seats'), type: 'NUMBER' })
  const calls = await post('features', { reference: unique('calls'), type: 'NUMBER' })
  const numbers = (number: string) => [{ feature_id: seats['id'], number }]
  const { id: planId } = await post('pricing-plans', { reference: unique('plan') })
  const version = await post('pricing-plan-versions', { pricing_plan_id: planId })
  const base = await feeOf('Base', '10', { entitlements: numbers('10') })
  await post('pricings', { pricing_plan_version_id: version['id'], ...base })
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const { id, customerId } = await subscribed({
    ...own(await feeOf('Extra', '31', { entitlements: numbers('5') })),
    pricing_plan_version_id: version['id'],
    entitlements: [{ feature_id: calls['id'], number: '3' }],
  })
  const granted = await get(`customers/${customerId}/entitlements`)
  const numbersOf = (list: readonly Row[]) => new Map(list.map(each => [each['feature_id'], each['number']]))
  const expected = new Map([
    [calls['id'], '3'],
    [seats['id'], '15'],
  ])
  expect(numbersOf(granted['entitlements'])).toEqual(expected)
  const [only, ...others] = granted['pricing_plan_subscription_entitlements']
  expect([only.pricing_plan_subscription_id, others]).toEqual([id, []])
  expect(numbersOf(only.entitlements)).toEqual(expected)
})

test('the prices of the subscriptions of one template are stored once', async () => {
  setTime('2026-03-01T01:00:00Z')
  const template = await post('pricing-plan-subscriptions', {
    type: 'TEMPLATE',
    billing_entity_id: await sales.billingEntity(),
    billing_currency: 'EUR',
  })
  const fee = await feeOf('Extra', '31')
  await post(SCHEDULES, { pricing_plan_subscription_id: template['id'], start_at: MARCH, ...own(fee) })
  await patch(`pricing-plan-subscriptions/${template['id']}`, { status: 'ACTIVE' })
  const customer_id = await sales.customer()
  const body = { template_pricing_plan_subscription_id: template['id'], customer_id, status: 'ACTIVE' }
  for (let index = 0; index < 3; index += 1) await post('pricing-plan-subscriptions/init', body)
  expect(await sql('select id from pricings where product_ids @> $1', [fee['product_ids']])).toHaveLength(1)
})
