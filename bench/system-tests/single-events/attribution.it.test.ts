// Attribution and conditions from the event to the invoice: whatever subscriptions a customer has and whatever its events
// say, every event is billed by exactly the subscriptions and configs its trace names, and by nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestEvent } from '../../../aggregator/testing.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { decimal, plain, ZERO } from '../../../shared/decimal.ts'
import { randomFrom } from '../../system/random.ts'
import { type EventsRig, ms, NOW, openEventsRig } from './rig.ts'

const METER = 'calls'
const AGREED = 'agreed-calls'
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const model = (comparator: string, more: object) => ({
  meter_properties: [{ reference: 'model', comparator, ...more }],
})
const PRICE = { pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }

let rig: EventsRig
let tenant: TestTenant
let entity: Row
/** Versions by the reference of their plan. */
const versions: Record<string, string> = {}
let variable: Row
/** What a schedule sells besides its plan, or without one: agreed calls. */
let ownPrices: readonly object[]
const post = (path: string, body: object) => succeed(tenant, 'POST', `/v1/${path}`, body)

beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
  entity = await post('billing-entities', { reference: 'nl', registered_address: { country: 'NL' } })
  const value = await post('meter-values', { reference: 'n', name: 'N', type: 'NUMBER', status: 'ACTIVE' })
  const property = await post('meter-properties', {
    reference: 'model',
    name: 'Model',
    type: 'STRING',
    status: 'ACTIVE',
  })
  const summed = async (reference: string) => {
    const meter = await post('meters', {
      reference,
      status: 'ACTIVE',
      meter_values: [{ id: value['id'], required: true }],
      meter_properties: [{ id: property['id'], required: true }],
    })
    const sum = { calculation_type: 'SUM', meter_id: meter['id'], meter_value_id: value['id'] }
    return (await post('meter-value-calculations', { reference, ...sum }))['id']
  }
  const product = await post('products', { reference: 'calls', name: 'Calls', status: 'ACTIVE' })
  variable = await post('meter-property-variables', { meter_property_id: property['id'], values: ['m1', 'm2'] })
  const itemOf = async (reference: string) =>
    await post('product-items', {
      reference,
      product_id: product['id'],
      name: 'Calls',
      status: 'ACTIVE',
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: await summed(reference) },
    })
  const item = await itemOf(METER)
  const listed = {
    ...PRICE,
    conditions: { name: 'listed', ...model('IN', { meter_property_variable_id: variable['id'] }) },
  }
  const own = { product_item_ids: [(await itemOf(AGREED))['id']], configs: [listed] }
  ownPrices = [{ pricings: [{ product_ids: [product['id']], items: [own] }] }]
  const third = { ...PRICE, conditions: model('EQUALS', { value: 'm3' }) }
  for (const [reference, configs] of Object.entries({
    gold: [PRICE, third, listed].map((config, order) => ({ ...config, order })),
    basic: [listed],
    plain: [PRICE],
  })) {
    const plan = await post('pricing-plans', { reference })
    const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
    await post('pricings', {
      pricing_plan_version_id: version['id'],
      product_ids: [product['id']],
      items: [{ product_item_ids: [item['id']], configs }],
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    versions[reference] = version['id']
  }
})
afterAll(() => rig?.close())

const customerOf = (more: object = {}): Promise<Row> =>
  post('customers', { reference: tenant.seed.unique('customer'), type: 'INDIVIDUAL', status: 'ACTIVE', ...more })

/** On `own` it is without a plan. */
async function subscribe(
  customer: Row,
  plan: string,
  start: string,
  more: { end?: string; over?: object; own?: boolean } = {},
) {
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
    reference: tenant.seed.unique('subscription'),
    ...more.over,
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: versions[plan],
    start_at: start,
    ...(more.own || plan === 'own' ? { pricing_categories: ownPrices } : {}),
    ...(more.end ? { end_at: more.end } : {}),
  })
  return subscription
}
const activate = (subscription: Row) =>
  tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
async function active(...args: Parameters<typeof subscribe>): Promise<Row> {
  const subscription = await subscribe(...args)
  const answer = await activate(subscription)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return subscription
}

const call = (customer: Row, over: Partial<TestEvent>): TestEvent => ({
  reference: rig.reference(),
  customerKey: customer['reference'],
  meterReference: METER,
  valueReference: 'n',
  timestampMs: ms('2026-03-12T00:00:00Z'),
  properties: { model: 'm1' },
  ...over,
})
const traceOf = (reference: string) => succeed(tenant, 'GET', `/v1/events/${reference}/event_trace`)

const variantsOf = (events: readonly TestEvent[]) =>
  Promise.all(events.map(({ reference }) => rig.variantOf(reference)))

/** What traces say: quantities by `subscription config`, added to `found`, and which events no link has. */
async function traced(events: readonly TestEvent[], before: Record<string, string> = {}) {
  const found = { ...before }
  const unbilled: TestEvent[] = []
  const traces = await Promise.all(events.map(({ reference }) => traceOf(reference)))
  for (const [place, event] of events.entries()) {
    const { quantity = '1' } = event
    const { links } = traces[place] ?? {}
    if (links.length === 0) unbilled.push(event)
    for (const link of links) {
      const name = `${link.pricing_plan_subscription_id} ${link.pricing_item_config_id}`
      found[name] = plain(decimal(found[name] ?? '0').plus(decimal(quantity)))
    }
  }
  return { found, unbilled }
}

/** What the invoices of these subscriptions say, in the same words. */
async function invoiced(subscriptions: readonly Row[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { id } of subscriptions) {
    await runBilling(rig.billing, tenant.tenant, id)
    const { data } = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`)
    for (const { id: invoice } of data) {
      const { periods } = await succeed(tenant, 'GET', `/v1/invoices/${invoice}`)
      for (const line of periods.flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))) {
        const name = `${id} ${line.pricing_item_config_id}`
        // A line of late usage shows what it bills, the whole of its time less what was billed before.
        found[name] = plain(decimal(found[name] ?? '0').plus(decimal(line.meter_value.number)))
      }
    }
  }
  return found
}
const total = (figures: Record<string, string>) =>
  plain(Object.values(figures).reduce((sum, each) => sum.plus(decimal(each)), ZERO))

const SELECTORS = ['gold', 'basic', 'nothing'].flatMap(value =>
  ['LATEST', 'NONE'].map(
    fallback =>
      `sel:{"filters":[{"field":"PRICING_PLAN_REFERENCE","type":"EQUALS","value":"${value}"}],"fallback":"${fallback}"}`,
  ),
)

describe('every event is billed by what its trace names', () => {
  test.each([1, 2, 3, 4])('of a customer with subscriptions and events by seed %i', async seed => {
    const { below, pick } = randomFrom(seed)
    const chance = (percent: number): boolean => below(100) < percent
    const filters = [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value: 'basic' }]
    const customer = await customerOf(seed % 2 === 0 ? { pricing_plan_subscription_selector: { filters } } : {})
    const child = await customerOf({ roles: ['PROCESSING_ONLY'], parent_customer_id: customer['id'] })
    const subscriptions: Row[] = []
    for (let count = 1 + below(3); count > 0; count -= 1) {
      const start = `2026-03-0${1 + below(9)}T0${below(9)}:00:00Z`
      const end = chance(40) ? { end: `2026-03-1${below(5)}T12:00:00Z` } : {}
      const more = chance(30) ? { ...end, own: true } : end
      subscriptions.push(await active(customer, pick(['gold', 'basic', 'plain', 'own']), start, more))
    }
    const named = subscriptions.flatMap(({ id, reference }) => [`id:${id}`, `ref:${reference}`])
    const make = (index: number): TestEvent =>
      call(chance(25) ? child : customer, {
        quantity: `${index + 1}.5`,
        timestampMs: ms('2026-03-01T00:00:00Z') + below(18 * 86_400_000),
        properties: { model: pick(['m1', 'm2', 'm3', 'm4']) },
        meterReference: pick([METER, METER, AGREED]),
        subscription: pick(['', '', '', 'id:nobody', ...named, ...SELECTORS]),
      })
    const events = Array.from({ length: 40 }, (_, index) => make(index))
    await rig.send(...events)
    const { found: byTrace, unbilled } = await traced(events)
    expect(await invoiced(subscriptions)).toEqual(byTrace)
    // And no event is named twice: what is billed and what is not are all there is.
    const left = Object.fromEntries(unbilled.map(({ reference, quantity = '1' }) => [reference, quantity]))
    const all = Object.fromEntries(events.map(({ reference, quantity = '1' }) => [reference, quantity]))
    expect(plain(decimal(total(byTrace)).plus(decimal(total(left))))).toBe(total(all))
    expect(await variantsOf(unbilled)).not.toContain('DEFAULT')
    expect(unbilled.length).toBeLessThan(events.length)

    // And what comes when March is FINAL is on the next invoice of a subscription that goes on, or on none, as traces say.
    try {
      for (const day of ['2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z']) {
        rig.api.clock.set(ms(day))
        for (const { id } of subscriptions) await runBilling(rig.billing, tenant.tenant, id)
      }
      const late = Array.from({ length: 15 }, (_, index) => make(index))
      await rig.send(...late)
      const billedLate = await invoiced(subscriptions)
      const lateTrace = await traced(late, byTrace)
      expect(billedLate).toEqual(lateTrace.found)
      expect(decimal(total(billedLate)).gt(decimal(total(byTrace)))).toBe(true)
      expect(await variantsOf(lateTrace.unbilled)).not.toContain('DEFAULT')
    } finally {
      rig.api.clock.set(NOW)
    }
  })
})

describe('the trace says why', () => {
  test('which subscription and config, by what rule, or the reason there is none', async () => {
    const customer = await customerOf()
    const stranger = await customerOf()
    const gold = await active(customer, 'gold', '2026-03-01T00:00:00Z')
    const basic = await active(customer, 'basic', '2026-03-02T00:00:00Z')
    const foreign = await active(stranger, 'plain', '2026-03-01T00:00:00Z')
    const draft = await subscribe(customer, 'plain', '2026-03-01T00:00:00Z')
    const cases: [Partial<TestEvent>, Row | null, string][] = [
      [{ subscription: `id:${gold['id']}` }, gold, 'ID'],
      [{ subscription: `ref:${gold['reference']}` }, gold, 'REFERENCE'],
      [{}, basic, 'LATEST'],
      [{ subscription: SELECTORS[0] ?? '' }, gold, 'EVENT_SELECTOR'],
      [{ timestampMs: ms('2026-03-01T12:00:00Z') }, gold, 'ONLY'],
      [{ properties: { model: 'm4' } }, null, 'CONDITIONS_NOT_MET'],
      [{ subscription: 'id:nobody' }, null, 'SUBSCRIPTION_NOT_FOUND'],
      [{ subscription: `id:${foreign['id']}` }, null, 'SUBSCRIPTION_OF_ANOTHER_CUSTOMER'],
      [{ subscription: `ref:${draft['reference']}` }, null, 'NO_SUBSCRIPTION'],
      [{ subscription: SELECTORS[5] ?? '' }, null, 'SELECTOR_NOT_MATCHED'],
      [{ timestampMs: ms('2026-02-01T00:00:00Z') }, null, 'NO_SUBSCRIPTION'],
    ]
    const events = cases.map(([over]) => call(customer, over))
    await rig.send(...events)
    for (const [index, [, subscription, why]] of cases.entries()) {
      const trace = await traceOf(events[index]?.reference ?? '')
      const { processed_details: details } = trace['meter_data']
      const links = trace['links'].map((link: Row) => [link['pricing_plan_subscription_id'], link['attributed_by']])
      expect([links, details.not_matched?.variant ?? null]).toEqual(
        subscription ? [[[subscription['id'], why]], null] : [[], why],
      )
    }
    const [first] = (await traceOf(events[0]?.reference ?? ''))['links']
    const version = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${versions['gold']}`)
    const config = version['pricing_categories'][0].pricings[0].items[0].configs[2]
    expect([config.conditions.name, config.id]).toEqual(['listed', first.pricing_item_config_id])
    const query = `customer_id=${customer['id']}&processed_details_type=NOT_MATCHED`
    expect((await rig.references(query)).length).toBe(6)
    // A variable that changes changes what is billed, and what the trace says, of what no FINAL invoice has.
    const path = `/v1/meter-property-variables/${variable['id']}/values`
    await succeed(tenant, 'PATCH', path, { add: ['m4'] })
    expect(await rig.variantOf(events[5]?.reference ?? '')).toBe('DEFAULT')
    await succeed(tenant, 'PATCH', path, { remove: ['m4'] })
    expect(await rig.variantOf(events[5]?.reference ?? '')).toBe('CONDITIONS_NOT_MET')
  })

  test('an event shows what it asked for', async () => {
    const customer = await customerOf()
    const selector = call(customer, { subscription: SELECTORS[1] ?? '' })
    const named = call(customer, { subscription: 'ref:later' })
    await rig.send(selector, named)
    expect(await succeed(tenant, 'GET', `/v1/events/${selector.reference}`)).toMatchObject({
      pricing_plan_subscription_id: null,
      pricing_plan_subscription_selector: {
        filters: [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value: 'gold' }],
        fallback: 'NONE',
      },
    })
    expect(await succeed(tenant, 'GET', `/v1/events/${named.reference}`)).toMatchObject({
      pricing_plan_subscription_reference: 'later',
      processed_details: { not_matched: { variant: 'SUBSCRIPTION_NOT_FOUND' } },
    })
  })

  test('a child whose subscription replicates is billed there and at its parent', async () => {
    const parent = await customerOf()
    const child = await customerOf({ parent_customer_ids: [parent['id']] })
    const above = await active(parent, 'plain', '2026-03-01T00:00:00Z')
    const over = { replicate_meter_data_ingest_to_parent: true }
    const below = await active(child, 'plain', '2026-03-01T00:00:00Z', { over })
    const event = call(child, { quantity: '7', subscription: `id:${below['id']}` })
    await rig.send(event, call(parent, { quantity: '5' }))
    const links = (await traceOf(event.reference))['links']
    expect(links.map((link: Row) => link['pricing_plan_subscription_id'])).toEqual([below['id'], above['id']])
    expect([total(await invoiced([below])), total(await invoiced([above]))]).toEqual(['7', '12'])
  })
})

describe('usage that has been billed stays where it is', () => {
  test('a variable that changes later moves nothing of closed time, and a customer made later brings its usage', async () => {
    const customer = await customerOf()
    const basic = await active(customer, 'basic', '2026-03-01T00:00:00Z')
    const reference = tenant.seed.unique('later')
    const listed = call(customer, { quantity: '3' })
    const unlisted = call(customer, { quantity: '5', properties: { model: 'm9' } })
    const waiting = call({ reference } as Row, { quantity: '7' })
    await rig.send(listed, unlisted, waiting)
    const path = `/v1/meter-property-variables/${variable['id']}/values`
    try {
      for (const day of ['2026-03-20T00:00:00Z', '2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z']) {
        rig.api.clock.set(ms(day))
        await runBilling(rig.billing, tenant.tenant, basic['id'])
      }
      await succeed(tenant, 'PATCH', path, { add: ['m9'] })
      const late = call(customer, { quantity: '2', properties: { model: 'm9' } })
      const april = call(customer, {
        quantity: '11',
        properties: { model: 'm9' },
        timestampMs: ms('2026-04-01T12:00:00Z'),
      })
      await rig.send(late, april)
      expect(total(await invoiced([basic]))).toBe('14')
      const variants = () =>
        Promise.all([listed, unlisted, late, april, waiting].map(event => rig.variantOf(event.reference)))
      const unmet = 'CONDITIONS_NOT_MET'
      expect(await variants()).toEqual(['DEFAULT', unmet, unmet, 'DEFAULT', 'CUSTOMER_NOT_FOUND'])

      await customerOf({ reference, roles: ['PROCESSING_ONLY'], parent_customer_id: customer['id'] })
      expect(total(await invoiced([basic]))).toBe('21')
      expect(await variants()).toEqual(['DEFAULT', unmet, unmet, 'DEFAULT', 'DEFAULT'])
      const invoiceIds = [listed, waiting, april].map(async event => (await traceOf(event.reference))['links'][0])
      const [first, second, third] = await Promise.all(invoiceIds)
      expect(second.invoice_id).toBe(third.invoice_id)
      expect(second.invoice_id).not.toBe(first.invoice_id)
      expect(second.invoice_line_id).not.toBe(third.invoice_line_id)
    } finally {
      rig.api.clock.set(NOW)
      await succeed(tenant, 'PATCH', path, { remove: ['m9'] })
    }
  })

  test('a selector is for the events after it, and a schedule for time that nobody has billed', async () => {
    const customer = await customerOf()
    const gold = await active(customer, 'gold', '2026-03-01T00:00:00Z')
    const plain_ = await active(customer, 'plain', '2026-03-02T00:00:00Z')
    const before = call(customer, {})
    const after = call(customer, { timestampMs: NOW + 3_600_000 })
    await rig.send(before, after)
    const filters = [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value: 'gold' }]
    const pricing_plan_subscription_selector = { filters, fallback: 'NONE' }
    await succeed(tenant, 'PATCH', `/v1/customers/${customer['id']}`, { pricing_plan_subscription_selector })
    const subscriptionOf = async (event: TestEvent) =>
      (await traceOf(event.reference))['links'].map((link: Row) => link['pricing_plan_subscription_id'])
    expect(await subscriptionOf(before)).toEqual([plain_['id']])
    expect(await subscriptionOf(after)).toEqual([gold['id']])

    // DRAFT first, and FINAL after the time in which it can still be looked at.
    for (const day of ['2026-04-01T00:00:00Z', '2026-04-02T00:00:00Z']) {
      rig.api.clock.set(ms(day))
      for (const { id } of [gold, plain_]) await runBilling(rig.billing, tenant.tenant, id)
    }
    const { data } = await succeed(
      tenant,
      'GET',
      `/v1/invoices?pricing_plan_subscription_id=${plain_['id']}&statuses[]=FINAL`,
    )
    expect(data.length).toBeGreaterThan(0)
    const late = await subscribe(customer, 'plain', '2026-03-20T00:00:00Z')
    const refused = await activate(late)
    expect([refused.status, refused.body['code']]).toEqual([400, 'INVALID_OPERATION'])
    expect(refused.body['message']).toContain('2026-04-01T00:00:00Z')
    expect((await activate(await subscribe(customer, 'plain', '2026-04-01T00:00:00Z'))).status).toBe(200)
    // Another customer's invoices are nobody's business.
    expect((await activate(await subscribe(await customerOf(), 'plain', '2026-03-20T00:00:00Z'))).status).toBe(200)
    rig.api.clock.set(NOW)
  })
})
