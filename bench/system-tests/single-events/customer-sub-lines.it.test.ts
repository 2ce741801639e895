// Sub lines of customers from the event to the invoice: what of each usage line of a parent is whose, by every calculation,
// the same on the preview, the OPEN, the DRAFT and the FINAL invoice, for late usage, and not at all without the flag.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestEvent } from '../../../aggregator/testing.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, NOW, openEventsRig, START } from './rig.ts'

const METER = 'prompts'
const FLAG = 'display_invoice_sub_lines_per_processing_only_customer'
const CALCULATIONS = ['SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE'] as const
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const TIERS = [{ tier_top_bound: { number: '1000' }, amount: eur('0.10') }, { amount: eur('0.08') }]

let rig: EventsRig
let tenant: TestTenant
let entity: Row
/** Of a plan with a TIERED price for the sum and a FLAT one for each of the other calculations. */
let versionId: string
const post = (path: string, body: object) => succeed(tenant, 'POST', `/v1/${path}`, body)

beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
  entity = await post('billing-entities', { reference: 'nl', registered_address: { country: 'NL' } })
  const value = await post('meter-values', { reference: 'n', name: 'N', type: 'NUMBER', status: 'ACTIVE' })
  const user = { reference: 'user', name: 'User', type: 'STRING', status: 'ACTIVE' }
  const property = await post('meter-properties', user)
  const meter = await post('meters', {
    reference: METER,
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
    meter_properties: [{ id: property['id'], required: true }],
  })
  const product = await post('products', { reference: 'prompts', name: 'Prompts', status: 'ACTIVE' })
  const items: object[] = []
  for (const [index, type] of CALCULATIONS.entries()) {
    const calculation = await post('meter-value-calculations', {
      reference: `n_${type.toLowerCase()}`,
      calculation_type: type,
      meter_id: meter['id'],
      ...(type === 'UNIQUE' ? { meter_property_id: property['id'] } : { meter_value_id: value['id'] }),
    })
    const item = await post('product-items', {
      reference: `prompts_${type.toLowerCase()}`,
      product_id: product['id'],
      name: type,
      status: 'ACTIVE',
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: calculation['id'] },
      display_order: index,
    })
    const flat = { pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }
    const configs = [type === 'SUM' ? { pricing_type: 'TIERED', bands: TIERS } : flat]
    items.push({ product_item_ids: [item['id']], display_order: index, configs })
  }
  const plan = await post('pricing-plans', { reference: 'prompts' })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await post('pricings', { pricing_plan_version_id: version['id'], product_ids: [product['id']], items })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  versionId = version['id']
})
afterAll(() => rig?.close())
beforeEach(() => rig.api.clock.set(NOW))

const customerOf = (name: string, more: object = {}): Promise<Row> =>
  post('customers', {
    reference: tenant.seed.unique(name.toLowerCase()),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: name, registered_address: { country: 'NL' } },
    ...more,
  })
const childOf = (parent: Row, name: string, more: object = { roles: ['PROCESSING_ONLY'] }): Promise<Row> =>
  customerOf(name, { parent_customer_id: parent['id'], ...more })

async function subscribe(customer: Row, over: object): Promise<Row> {
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
    ...over,
  })
  const schedule = { pricing_plan_version_id: versionId, start_at: START }
  await post('pricing-plan-schedules', { pricing_plan_subscription_id: subscription['id'], ...schedule })
  await change(subscription, { status: 'ACTIVE' })
  return subscription
}
const change = ({ id }: Row, patch: object) => succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, patch)

const prompt = (customer: Row, quantity: string, user: string, day = '2026-03-12T00:00:00Z'): TestEvent => ({
  reference: rig.reference(),
  customerKey: customer['reference'],
  meterReference: METER,
  valueReference: 'n',
  timestampMs: ms(day),
  receivedAtMs: rig.api.clock.now(),
  properties: { user },
  quantity,
})

const linesIn = (invoice: Row | undefined): Row[] =>
  (invoice?.['periods'] ?? []).flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
/** The sub lines of an invoice in words: `SUM: Alpha 500 (0.25) 50.00, …` a line. */
const shown = (invoice: Row | undefined): string[] =>
  linesIn(invoice).map(({ description, sub_lines }) => {
    const subs = (sub_lines ?? []).map(
      ({ description: name, details }: Row) =>
        `${name} ${details['meter_value'].number} (${details['meter_value_share_of_total']}) ${details['amount'].quantity}`,
    )
    return `${description}: ${subs.join(', ')}`
  })

/** The own customer stays first; the others, who are by id, by their name. */
function orderedByName(line: string): string {
  const [name, subs = ''] = line.split(': ')
  const [own, ...others] = subs.split(', ')
  return `${name}: ${[own, ...others.sort()].join(', ')}`
}

async function invoicesOf({ id }: Row): Promise<Row[]> {
  const { data } = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`)
  const whole = await Promise.all(data.map((row: Row) => succeed(tenant, 'GET', `/v1/invoices/${row['id']}`)))
  return whole.sort((a, b) => (a['period_start'] < b['period_start'] ? -1 : 1))
}
async function billAt(subscription: Row, day: string): Promise<Row[]> {
  rig.api.clock.set(ms(day))
  await runBilling(rig.billing, tenant.tenant, subscription['id'])
  return await invoicesOf(subscription)
}
const previewOf = async ({ id }: Row): Promise<Row> =>
  (await post('invoices/preview', { pricing_plan_subscription_id: id }))['invoice']
const refreshed = ({ id }: Row): Promise<Row> => succeed(tenant, 'POST', `/v1/invoices/${id}/refresh`, {})

/** A parent with a subscription, and two children that only send events. */
async function family(over: object): Promise<{ parent: Row; alpha: Row; beta: Row; subscription: Row }> {
  const parent = await customerOf('Parent')
  const alpha = await childOf(parent, 'Alpha')
  const beta = await childOf(parent, 'Beta')
  return { parent, alpha, beta, subscription: await subscribe(parent, over) }
}

describe('a parent and two customers that only process', () => {
  test('every usage line says what of it is whose, at every stage, and what comes late adds to it', async () => {
    const { parent, alpha, beta, subscription } = await family({ [FLAG]: true })
    const ofAlpha = prompt(alpha, '500', 'u1')
    await rig.send(prompt(parent, '200', 'u3'), ofAlpha, prompt(alpha, '100', 'u2'), prompt(beta, '400', 'u2'))
    // 1 200 in all cost 100 + 16; the greatest is 500, the least 100, the average 300, and there are three users.
    const march = [
      'SUM: Parent 200 (0.166666666667) 19.33, Alpha 600 (0.5) 58.00, Beta 400 (0.333333333333) 38.67',
      'MAX: Parent 200 (0.181818181818) 90.91, Alpha 500 (0.454545454546) 227.27, Beta 400 (0.363636363636) 181.82',
      'MIN: Parent 200 (0.285714285714) 28.57, Alpha 100 (0.142857142857) 14.29, Beta 400 (0.571428571429) 57.14',
      'AVERAGE: Parent 200 (0.166666666667) 50.00, Alpha 300 (0.5) 150.00, Beta 400 (0.333333333333) 100.00',
      'UNIQUE: Parent 1 (0.25) 0.75, Alpha 2 (0.5) 1.50, Beta 1 (0.25) 0.75',
    ]
    const inOrder = (lines: string[]): string[] => lines.map(line => orderedByName(line))
    expect(inOrder(shown(await previewOf(subscription)))).toEqual(march)
    const [open] = await billAt(subscription, '2026-03-20T00:00:00Z')
    expect([open?.['status'], inOrder(shown(open))]).toEqual(['OPEN', march])
    const again = open && (await refreshed(open))
    expect(again?.['periods']).toEqual(open?.['periods'])
    const [draft] = await billAt(subscription, '2026-04-01T01:00:00Z')
    const [final] = await billAt(subscription, '2026-04-02T00:00:00Z')
    expect([draft?.['status'], final?.['status']]).toEqual(['DRAFT', 'FINAL'])
    for (const stage of [draft, final]) {
      expect(stage?.['periods']).toEqual(open?.['periods'])
      expect(stage).toMatchObject({ [FLAG]: true, invoice_amount_excluding_tax: eur('1019.00') })
      const customers = stage?.['processing_only_customers'].map((each: Row) => [each['id'], each['organization']])
      expect(customers).toEqual(
        [alpha, beta]
          .map(each => [each['id'], { legal_name: each['organization'].legal_name }])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      )
    }
    const [first] = linesIn(final)
    const ids = first?.['sub_lines'].map((sub: Row) => sub['processing_only_customer_id'])
    expect([ids[0], new Set(ids)]).toEqual([parent['id'], new Set([parent['id'], alpha['id'], beta['id']])])

    // The parts of the children in what they use together, without the parent, whose line has none.
    const among = first?.['sub_lines'].map((sub: Row) => [
      sub['processing_only_customer_id'],
      sub['details'].meter_value_share_of_processing_only_customer_total ?? null,
    ])
    expect(among[0]).toEqual([parent['id'], null])
    const parts = among.slice(1).map(([, part]: [string, string]) => Number(part))
    expect(parts.reduce((a: number, b: number) => a + b)).toBeCloseTo(1, 10)
    expect(Math.min(...parts)).toBeGreaterThan(0)
    const ofAlphaAlone = `/v1/invoices/${final?.['id']}?processing_only_customer_id=${alpha['id']}`
    const [line] = linesIn(await succeed(tenant, 'GET', ofAlphaAlone))
    expect(line?.['sub_lines'].map((sub: Row) => sub['processing_only_customer_id'])).toEqual([alpha['id']])

    // The trace of a child's event names what of its parent bills it, and shows it on request.
    const tracePath = `/v1/events/${ofAlpha.reference}/event_trace?expand[]=ALL`
    const { links } = await succeed(tenant, 'GET', tracePath)
    expect(links[0]).toMatchObject({
      invoice: { object_type: 'INVOICE', id: final?.['id'] },
      pricing_plan_subscription: { object_type: 'PRICING_PLAN_SUBSCRIPTION', id: subscription['id'] },
      product_items: [{ object_type: 'PRODUCT_ITEM', id: links[0].product_item_ids[0] }],
      meter_value_calculations: [
        { object_type: 'METER_VALUE_CALCULATION', id: links[0].meter_value_calculation_ids[0] },
      ],
    })
    expect(links).toHaveLength(CALCULATIONS.length)
    const lines = linesIn(final)
    for (const link of links) {
      const line = lines.find(each => each['id'] === link['invoice_line_id'])
      expect(link).toMatchObject({ pricing_plan_subscription_id: subscription['id'], invoice_id: final?.['id'] })
      expect(link).toMatchObject({
        pricing_item_config_id: line?.['pricing_item_config_id'],
        product_item_ids: [line?.['product_items'][0].id],
      })
    }

    // 800 late ones of Beta: 2 000 cost 180 in all, of which 108 are Beta's and 54 Alpha's, less what they were asked.
    await rig.send(prompt(beta, '800', 'u2'))
    const [same, next] = await billAt(subscription, '2026-04-03T00:00:00Z')
    expect(same).toEqual(final)
    expect(inOrder(shown(next))[0]).toBe('SUM: Parent 200 (0.1) -1.33, Alpha 600 (0.3) -4.00, Beta 1200 (0.6) 69.33')
    for (const line of linesIn(next)) {
      const parts = line['sub_lines'].map((sub: Row) => Number(sub['details'].amount.quantity))
      const total = parts.reduce((sum: number, each: number) => sum + each, 0)
      expect(total).toBeCloseTo(Number(line['amount_excluding_tax'].quantity), 6)
    }
  })

  test('without the flag an invoice has none of it; the flag may change while invoices are not FINAL', async () => {
    const { parent, alpha, subscription } = await family({})
    await rig.send(prompt(parent, '900', 'u1'), prompt(alpha, '300', 'u1'))
    const [open] = await billAt(subscription, '2026-03-20T00:00:00Z')
    expect(JSON.stringify(open)).not.toMatch(/processing_only|share_of_total/)
    expect(linesIn(open)[0]?.['sub_lines'].map((sub: Row) => sub['details'].amount)).toEqual([eur('100'), eur('16')])
    if (!open) throw new Error('there is an invoice')
    await change(subscription, { [FLAG]: true })
    const on = await refreshed(open)
    expect(shown(on)[0]).toBe('SUM: Parent 900 (0.75) 87.00, Alpha 300 (0.25) 29.00')
    expect(on['invoice_amount_including_tax']).toEqual(open['invoice_amount_including_tax'])
    await change(subscription, { [FLAG]: false })
    const { updated_at: _was, ...before } = open
    const { updated_at: _is, ...after } = await refreshed(open)
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
  })
})

test('children whose usage is replicated have a sub line at their parent, and an invoice of their own', async () => {
  const parent = await customerOf('Parent')
  const above = await subscribe(parent, { [FLAG]: true })
  const child = await childOf(parent, 'Child', {})
  const other = await childOf(parent, 'Other', {})
  const below = await subscribe(child, { replicate_meter_data_ingest_to_parent: true })
  // Not replicated: what Other sends is its own alone.
  await subscribe(other, {})
  await rig.send(prompt(child, '300', 'u1'), prompt(other, '700', 'u1'))
  const [own] = await billAt(below, '2026-03-20T00:00:00Z')
  const [parents] = await billAt(above, '2026-03-20T00:00:00Z')
  expect(shown(parents)[0]).toBe('SUM: Child 300 (1) 30.00')
  expect(linesIn(own).map(line => [line['meter_value'].number, line['sub_lines']])[0]).toEqual(['300', undefined])
})
