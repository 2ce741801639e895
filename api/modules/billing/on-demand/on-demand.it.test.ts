// Charges on demand through the API: from the plan to DRAFT and FINAL invoices, beside the billing periods of the
// subscription.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { MONEY, shown, walletsOf } from '../../wallets/testing/wallets-of.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

const CHARGE = '/v1/invoices/charge-on-demand-pricing-items'
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const NOW = '2026-03-10T12:00:00Z'

let api: ApiHarness
let tenant: TestTenant
let before: number
/** The items of the plan that can be charged on demand, by their price. */
let items: Record<'FIXED' | 'FLAT' | 'FLEXIBLE', string>
let versionId: string
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bTest
  before = api.clock.now()
  api.clock.set(Date.parse(NOW))
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const product = await post('products', { reference: seed.unique('product'), name: 'Packs', status: 'ACTIVE' })
  const priced: unknown[] = []
  const prices = [
    ['FIXED', { fixed_amount: eur('50') }],
    ['FLAT', { amount: eur('2.50') }],
    ['FLEXIBLE', { minimum_amount: eur('10'), maximum_amount: eur('500') }],
  ] as const
  for (const [pricing_type, band] of prices) {
    const item = await post('product-items', {
      reference: seed.unique(pricing_type),
      product_id: product['id'],
      name: pricing_type,
      status: 'ACTIVE',
      model_type: 'ONE_OFF',
    })
    priced.push({ product_item_ids: [item['id']], configs: [{ pricing_type, on_demand: true, bands: [band] }] })
  }
  const fee = await post('product-items', {
    reference: seed.unique('fee'),
    product_id: product['id'],
    name: 'Fee',
    status: 'ACTIVE',
    model_type: 'RECURRING',
  })
  priced.push({
    product_item_ids: [fee['id']],
    configs: [{ pricing_type: 'FIXED', billing_in_advance: true, bands: [{ fixed_amount: eur('100') }] }],
  })
  const plan = await post('pricing-plans', { reference: seed.unique('plan'), name: 'Packs' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  versionId = version['id']
  const pricing = await post('pricings', {
    pricing_plan_version_id: versionId,
    name: 'Packs',
    product_ids: [product['id']],
    items: priced,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  const onDemand = (pricing['items'] as Row[]).filter(item => item['configs'][0].on_demand)
  items = Object.fromEntries(onDemand.map(item => [item['configs'][0].pricing_type, item['id']])) as typeof items
})
afterAll(async () => {
  api?.clock.set(before)
  await api?.close()
})

type Subscribed = { readonly schedule: string; readonly subscription: string; readonly customer: string }

async function subscribed(more: object = {}): Promise<Subscribed> {
  const { subscriptionId, customerId } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    schedule: async () => ({ pricing_plan_version_id: versionId, ...more }),
  })
  const url = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscriptionId}`
  const [schedule] = (await succeed(tenant, 'GET', url))['data']
  return { schedule: schedule['id'], subscription: subscriptionId, customer: customerId }
}
const orderOf = ({ schedule }: Subscribed, more: object = {}) => ({
  pricing_plan_schedule_id: schedule,
  pricing_items: [{ pricing_item_id: items.FIXED }],
  ...more,
})
const invoicesOf = async ({ subscription }: Subscribed): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${subscription}`))['data']

test('a preview stores nothing and shows the invoice that the same call then makes, DRAFT or FINAL', async () => {
  const of = await subscribed({ discount: { totals: [{ percentage: '10' }] } })
  const order = orderOf(of, {
    pricing_items: [
      { pricing_item_id: items.FIXED },
      { pricing_item_id: items.FLAT, units: { number: '4' } },
      { pricing_item_id: items.FLEXIBLE, flexible_amount: eur('25.50') },
    ],
  })
  const preview = await succeed(tenant, 'POST', CHARGE, { ...order, preview: true, finalize_immediately: true })
  // 50.00 + 4 × 2.50 + 25.50, less 10 %, and 21 % of 76.95.
  const lines = ['REVENUE 50.00', 'REVENUE 10.00', 'REVENUE 25.50', 'DISCOUNT -8.55', '76.95', '16.16', '93.11']
  expect(shown(preview)).toEqual(lines)
  expect(preview).not.toHaveProperty('id')
  expect(await invoicesOf(of)).toEqual([])
  const draft = await succeed(tenant, 'POST', CHARGE, order)
  expect(draft).toMatchObject({
    status: 'DRAFT',
    type: 'ONE_OFF',
    pricing_plan_subscription_id: of.subscription,
    customer_id: of.customer,
    invoice_date: '2026-03-10T00:00:00Z',
  })
  const { periods: _lines, ...others } = preview
  expect(draft).toMatchObject(others)
  expect(shown(draft)).toEqual(lines)
  const final = await succeed(tenant, 'POST', CHARGE, { ...order, finalize_immediately: true })
  expect(final).toMatchObject({ status: 'FINAL', invoice_number: expect.any(String), payment_status: 'UNPAID' })
  expect(shown(final)).toEqual(lines)
  await succeed(tenant, 'PATCH', `/v1/customers/${of.customer}`, {
    organization: { legal_name: 'Renamed since', registered_address: { country: 'FR' } },
  })
  expect(await succeed(tenant, 'POST', `/v1/invoices/${final['id']}/verify`)).toMatchObject({ identical: true })
  expect((await noticesOf(api, final['id'])).map(({ type }) => type)).toEqual([
    'INVOICE.CREATED',
    'INVOICE.UPDATED',
    'INVOICE.STATUS_TO_FINAL',
  ])
})

test('one Idempotency-Key charges once, however many calls are sent with it at the same time', async () => {
  const of = await subscribed()
  const key = { 'idempotency-key': tenant.seed.unique('pack') }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => tenant.call('POST', CHARGE, orderOf(of, { finalize_immediately: true }), key)),
  )
  const charged = answers.filter(({ status }) => status === 201)
  expect(charged.length).toBeGreaterThan(0)
  expect(answers.filter(({ status }) => status !== 201 && status !== 422)).toEqual([])
  expect(new Set(charged.map(({ body }) => body['id'])).size).toBe(1)
  expect(await invoicesOf(of)).toHaveLength(1)
  const other = await tenant.call('POST', CHARGE, orderOf(of), key)
  expect(other.status).toBe(409)
})

test('a DRAFT takes lines and a refresh, becomes FINAL once, and is credited like any invoice', async () => {
  const of = await subscribed()
  const { id } = await succeed(tenant, 'POST', CHARGE, orderOf(of))
  const url = `/v1/invoices/${id}`
  const line = {
    pricing_name: 'Gift',
    pricing_type: 'FIXED',
    product_item_type: 'DEDUCTION',
    pricing_band: { amount: eur('5') },
  }
  const added = await succeed(tenant, 'POST', `${url}/lines`, line)
  expect(added['invoice_amount_excluding_tax']).toEqual(eur('45.00'))
  const subscription = `/v1/pricing-plan-subscriptions/${of.subscription}`
  await succeed(tenant, 'PATCH', subscription, { purchase_order_number: 'PO-9' })
  expect(await succeed(tenant, 'POST', `${url}/refresh`, { types: ['FULL'] })).toMatchObject({
    purchase_order_number: 'PO-9',
    invoice_amount_excluding_tax: eur('45.00'),
  })
  const finals = await Promise.all([1, 2, 3].map(() => tenant.call('PATCH', url, { status: 'FINAL' })))
  expect(new Set(finals.map(({ status, body }) => `${status} ${body['invoice_number']}`)).size).toBe(1)
  const credit = await succeed(tenant, 'POST', `${url}/credit`, {})
  expect(credit).toMatchObject({ type: 'ONE_OFF_CREDIT', invoice_amount_excluding_tax: eur('-45.00') })
  expect(
    (await succeed(tenant, 'GET', `${url}/lines/${added['periods'][0].groups[0].lines[0].id}/explanation`))['steps'],
  ).toHaveLength(1)
})

test('wallets pay it before tax: reserved by a DRAFT, given back by VOID, spent by FINAL', async () => {
  const of = await subscribed()
  const { wallet, grant, balance } = await walletsOf(tenant)
  const money = await wallet(MONEY, of.customer)
  expect((await grant(money, '60')).status).toBe(201)
  const { id } = await succeed(tenant, 'POST', CHARGE, orderOf(of))
  expect(shown(await succeed(tenant, 'GET', `/v1/invoices/${id}`))).toEqual([
    'REVENUE 50.00',
    'WALLET -50.00',
    '0.00',
    '0.00',
    '0.00',
  ])
  expect(await balance(money)).toBe('60 / 50 / 10')
  await succeed(tenant, 'POST', `/v1/invoices/${id}/void`)
  expect(await balance(money)).toBe('60 / 0 / 60')
  const two = orderOf(of, {
    pricing_items: [{ pricing_item_id: items.FIXED }, { pricing_item_id: items.FLAT, units: { number: '8' } }],
    finalize_immediately: true,
  })
  expect(shown(await succeed(tenant, 'POST', CHARGE, two)).slice(2)).toEqual([
    'WALLET -60.00',
    '10.00',
    '2.10',
    '12.10',
  ])
  expect(await balance(money)).toBe('0 / 0 / 0')
})

test('the billing periods of the subscription go on beside it', async () => {
  const of = await subscribed()
  await succeed(tenant, 'POST', CHARGE, orderOf(of, { start_at: '2026-03-01T00:00:00Z' }))
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, of.subscription)
  const amounts = (await invoicesOf(of)).map(invoice => [
    invoice['type'],
    invoice['period_start'] ?? null,
    invoice['invoice_amount_excluding_tax'].quantity,
  ])
  expect(amounts.toSorted()).toEqual([
    ['ONE_OFF', null, '50.00'],
    ['STANDARD', '2026-03-01T00:00:00Z', '100.00'],
    ['STANDARD', '2026-03-01T00:00:00Z', '100.00'],
  ])
})

test('what can be charged on demand is listed without what the billing periods charge', async () => {
  const { schedule, subscription } = await subscribed()
  const list = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules/${schedule}/on-demand-pricing-items`)
  expect(list).toMatchObject({
    pricing_plan_subscription_id: subscription,
    pricing_plan_schedule_id: schedule,
    pricing_plan_version_id: versionId,
  })
  const listed = list['pricing_categories'].flatMap((category: Row) =>
    category['pricings'].flatMap((pricing: Row) => pricing['items'].map((item: Row) => item['id'])),
  )
  expect(listed.toSorted()).toEqual(Object.values(items).toSorted())
})

test('on a rate card, the version in force at the time decides what can be charged', async () => {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const product = await post('products', { reference: seed.unique('product'), name: 'Card', status: 'ACTIVE' })
  const item = await post('product-items', {
    reference: seed.unique('pack'),
    product_id: product['id'],
    name: 'Pack',
    status: 'ACTIVE',
    model_type: 'ONE_OFF',
  })
  const plan = await post('pricing-plans', { reference: seed.unique('card'), variant: 'RATE_CARD' })
  const ids: string[] = []
  let first = ''
  for (const [start_at, price] of [
    ['2026-03-01T00:00:00Z', '50'],
    ['2026-04-01T00:00:00Z', '60'],
  ] as const) {
    const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'], rate_card: { start_at } })
    first ||= version['id']
    const config = { pricing_type: 'FIXED', on_demand: true, bands: [{ fixed_amount: eur(price) }] }
    const pricing = await post('pricings', {
      pricing_plan_version_id: version['id'],
      name: 'Card',
      product_ids: [product['id']],
      items: [{ product_item_ids: [item['id']], configs: [config] }],
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    ids.push(pricing['items'][0].id)
  }
  const of = await subscribed({ pricing_plan_version_id: first })
  const listed = async (query = ''): Promise<string[]> => {
    const url = `/v1/pricing-plan-schedules/${of.schedule}/on-demand-pricing-items${query}`
    const { pricing_categories: categories } = await succeed(tenant, 'GET', url)
    return categories.flatMap(({ pricings }: Row) =>
      pricings.flatMap((pricing: Row) => pricing['items'].map(({ id }: Row) => id)),
    )
  }
  const [now = '', later = ''] = ids
  expect([await listed(), await listed('?timestamp=2026-04-02T00:00:00Z')]).toEqual([[now], [later]])
  const charged = await succeed(tenant, 'POST', CHARGE, orderOf(of, { pricing_items: [{ pricing_item_id: now }] }))
  expect(charged['invoice_amount_excluding_tax']).toEqual(eur('50.00'))
  const early = await tenant.call('POST', CHARGE, orderOf(of, { pricing_items: [{ pricing_item_id: later }] }))
  expect([early.status, early.body['field']]).toEqual([400, 'start_at'])
  const april = orderOf(of, {
    pricing_items: [{ pricing_item_id: later }],
    start_at: '2026-04-02T00:00:00Z',
    preview: true,
  })
  expect((await succeed(tenant, 'POST', CHARGE, april))['invoice_amount_excluding_tax']).toEqual(eur('60.00'))
})

test('a bad order is refused with its field, and charges nothing', async () => {
  const of = await subscribed()
  const flat = { pricing_item_id: items.FLAT }
  const draft = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    activate: false,
    schedule: async () => ({ pricing_plan_version_id: versionId }),
  })
  const drafted = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${draft.subscriptionId}`
  const [{ id: draftSchedule }] = (await succeed(tenant, 'GET', drafted))['data']
  for (const [more, status, code, field] of [
    [{ pricing_plan_schedule_id: 'none' }, 404, 'RESOURCE_NOT_FOUND', 'pricing_plan_schedule_id'],
    [{ pricing_plan_schedule_id: draftSchedule }, 400, 'INVALID_OPERATION', 'pricing_plan_schedule_id'],
    [{ pricing_items: [] }, 400, 'INVALID_FIELD', 'pricing_items'],
    [{ pricing_items: [{ pricing_item_id: 'none' }] }, 404, 'RESOURCE_NOT_FOUND', 'pricing_items.0.pricing_item_id'],
    [{ pricing_items: [flat] }, 400, 'MISSING_FIELD', 'pricing_items.0.units'],
    [{ pricing_items: [{ ...flat, units: { number: '0' } }] }, 400, 'INVALID_FIELD', 'pricing_items.0.units.number'],
    [
      { pricing_items: [{ ...flat, units: { amount: eur('1') } }] },
      400,
      'INVALID_FIELD',
      'pricing_items.0.units.amount',
    ],
    [{ start_at: '2027-01-01T00:00:00Z', finalize_immediately: true }, 400, 'INVALID_FIELD', 'start_at'],
    [{ start_at: '2026-02-01T00:00:00Z' }, 400, 'INVALID_FIELD', 'start_at'],
    [{ payment_method_id: 'pmet_1' }, 400, 'INVALID_FIELD', 'payment_method_id'],
  ] as const) {
    const answer = await tenant.call('POST', CHARGE, { ...orderOf(of), ...more })
    expect([answer.status, answer.body['code'], answer.body['field']], JSON.stringify(more)).toEqual([
      status,
      code,
      field,
    ])
  }
  const foreign = await api.tenants.aTest.call('POST', CHARGE, orderOf(of))
  expect([foreign.status, foreign.body['field']]).toEqual([404, 'pricing_plan_schedule_id'])
  expect(await invoicesOf(of)).toEqual([])
})
