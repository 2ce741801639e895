// A platform with a plan of ten metered lines, made through the api once, and as many customers of it as are asked for, copied
// inside PostgreSQL: what a billing run finds, without the hours it takes to make ten thousand customers call by call.
import pg from 'pg'
import { newId } from '../../shared/ids.ts'
import type { Setup } from '../setup.ts'
import { makeSeatItem, takeSeats, termsOfSchedule } from './terms.ts'

export const METERS = 5
/** Of each meter two: one line each. */
export const VALUES = ['units', 'hits'] as const
export const LINES = METERS * VALUES.length

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const TIERS = [
  { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
  { amount: eur('0.08'), tier_top_bound: { number: '10000' } },
  { amount: eur('0.05') },
]
const FLAT = [{ amount: eur('0.015'), block_size: { number: '1000' } }]

export type Body = Record<string, unknown> & { readonly id: string }
export type Call = (method: string, path: string, body?: unknown) => Promise<Body>

export const caller =
  (baseUrl: string, apiKey: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${baseUrl}/v1/${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as Body
  }

export const meterReference = (meter: number): string => `meter_${meter}`
export const PROPERTY = 'kind'
export const KINDS = 5

/** Of the ten: six sums of everything, two of one kind, a highest value and a number of different kinds. */
async function makeItems(
  call: Call,
  price: object,
): Promise<{ productId: string; itemIds: string[]; items: object[] }> {
  const active = { status: 'ACTIVE' }
  const property = await call('POST', 'meter-properties', {
    reference: PROPERTY,
    name: 'Kind',
    type: 'STRING',
    ...active,
  })
  const values: Body[] = []
  for (const reference of VALUES)
    values.push(await call('POST', 'meter-values', { reference, name: reference, type: 'NUMBER', ...active }))
  const product = await call('POST', 'products', { reference: 'inference', name: 'Inference', ...active })
  const items: object[] = []
  const itemIds: string[] = []
  for (let meter = 0; meter < METERS; meter += 1) {
    const { id: meter_id } = await call('POST', 'meters', {
      reference: meterReference(meter),
      meter_values: values.map(({ id }) => ({ id })),
      meter_properties: [{ id: property.id, required: true }],
      ...active,
    })
    for (const [place, value] of values.entries()) {
      const line = meter * VALUES.length + place
      const reference = `line_${line}`
      const what =
        line === 8
          ? { calculation_type: 'UNIQUE', meter_property_id: property.id }
          : { calculation_type: line === 9 ? 'MAX' : 'SUM', meter_value_id: value.id }
      const calculation = await call('POST', 'meter-value-calculations', { reference, meter_id, ...what })
      const item = await call('POST', 'product-items', {
        reference,
        product_id: product.id,
        name: `Line ${line}`,
        model_type: 'USAGE_BASED',
        usage_based: { meter_value_calculation_id: calculation.id },
        ...active,
      })
      const one = { reference: PROPERTY, comparator: 'EQUALS', value: 'kind-1' }
      const conditions = { name: 'One kind', meter_properties: [one] }
      const config = {
        pricing_type: place === 0 ? 'TIERED' : 'FLAT',
        bands: place === 0 ? TIERS : FLAT,
        ...(meter === 3 ? { conditions } : {}),
        ...price,
      }
      items.push({ product_item_ids: [item.id], configs: [config] })
      itemIds.push(item.id)
    }
  }
  return { productId: product.id, itemIds, items }
}

type Further = {
  /** What else the schedule says, once the plan is there. */
  readonly schedule?: () => Promise<object>
  /** What else the subscription says. */
  readonly subscription?: object
  /** With seats, discounts and a minimum. */
  readonly rich?: boolean
  /** What else every price says. */
  readonly price?: object
  /** The schedule has the prices of its own, without a plan; copied, each has a set of them. */
  readonly ownPrices?: boolean
}

/** The plan, and one customer on it since `startAt`. The subscription and its schedule are ACTIVE. */
export async function makeTemplate(
  call: Call,
  startAt: string,
  { schedule = async () => ({}), subscription: terms = {}, rich = false, price = {}, ownPrices = false }: Further = {},
): Promise<string> {
  const { productId, itemIds, items } = await makeItems(call, price)
  const seats = rich ? await makeSeatItem(call, productId) : null
  const pricing = { name: 'Standard', product_ids: [productId], items: seats ? [...items, seats.priced] : items }
  const sold = ownPrices
    ? { pricing_categories: [{ pricings: [pricing] }] }
    : { pricing_plan_version_id: await makeVersion(call, pricing) }
  const registered_address = { country: 'NL', city: 'Utrecht' }
  const entity = await call('POST', 'billing-entities', {
    reference: 'main',
    legal_name: 'Millrace',
    registered_address,
  })
  const customer = await call('POST', 'customers', {
    reference: 'template',
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address },
  })
  const subscription = await call('POST', 'pricing-plan-subscriptions', {
    customer_id: customer.id,
    billing_entity_id: entity.id,
    billing_currency: 'EUR',
    ...terms,
  })
  await call('POST', 'pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription.id,
    ...sold,
    start_at: startAt,
    pricing_currency: 'EUR',
    ...(seats ? await termsOfSchedule(call, itemIds[0] ?? '') : {}),
    ...(await schedule()),
  })
  await call('PATCH', `pricing-plan-subscriptions/${subscription.id}`, { status: 'ACTIVE' })
  if (seats) await takeSeats(call, { subscriptionId: subscription.id, itemId: seats.itemId, startAt })
  return subscription.id
}

/** An ACTIVE version of a plan with this pricing. */
async function makeVersion(call: Call, pricing: object): Promise<string> {
  const plan = await call('POST', 'pricing-plans', { reference: 'plan', name: 'Standard' })
  const version = await call('POST', 'pricing-plan-versions', { pricing_plan_id: plan.id })
  await call('POST', 'pricings', { pricing_plan_version_id: version.id, ...pricing })
  await call('PATCH', `pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })
  return version.id
}

/** The reference of the customer with this number; events carry it. */
export const customerReference = (number: number): string => `customer-${number}`

export type Copied = { readonly customerId: string; readonly subscriptionId: string; readonly number: number }

type Copies = {
  readonly template: string
  readonly from: number
  readonly to: number
  readonly each?: number
}

/**
 * Customers `from` up to `to`, each with as many subscriptions as `each` says, with a schedule and seats like the template's, none of them
 * due. Of several, each has a reference, which events name.
 */
export async function copyCustomers(
  { databaseUrl }: Pick<Setup, 'databaseUrl'>,
  { template, from, to, each = 1 }: Copies,
): Promise<Copied[]> {
  const wanted = Array.from({ length: to - from }, (_, place) => {
    const reference = customerReference(from + place)
    const customer = newId('cust')
    return Array.from({ length: each }, (_one, own) => ({
      customer,
      reference,
      own: each === 1 ? null : `${reference}-${own}`,
      place: own,
      number: from + place,
    }))
  }).flat()
  // In no order, as those of a tenant: what is stored or due together is neither of one customer nor of neighbours.
  const scattered = wanted.toSorted((a, b) => mixed(a) - mixed(b))
  const copies = scattered.map(copy => ({
    ...copy,
    subscription: newId('ppsu'),
    schedule: newId('ppsc'),
    plan: newId('pric'),
    version: newId('ppve'),
    pricing: newId('prcg'),
  }))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const copy = async (table: string, where: string, changes: string): Promise<void> => {
      await client.query(
        `insert into ${table} select r.* from ${table} t
         cross join jsonb_to_recordset($1::jsonb) as c(customer text, subscription text, schedule text, reference text, own text, place int,
           plan text, version text, pricing text)
         cross join lateral jsonb_populate_record(t, ${changes}) as r where ${where}`,
        [JSON.stringify(copies), template],
      )
    }
    const subscription = `(select s.customer_id from pricing_plan_subscriptions s where s.id = $2)`
    await copy(
      'customers',
      `t.id = ${subscription} and c.place = 0`,
      `jsonb_build_object('id', c.customer, 'reference', c.reference)`,
    )
    await copy(
      'pricing_plan_subscriptions',
      't.id = $2',
      // One that has ended is ended again, by the run; until then nothing finds it due.
      `jsonb_build_object('id', c.subscription, 'reference', c.own, 'customer_id', c.customer, 'next_billing_at', null,
        'usage_order', c.reference, -- as a run left it
        'status', case t.status when 'CANCELLED' then 'DRAFT' else t.status end)`,
    )
    const ofSchedule = (column: string): string =>
      `(select h.${column} from pricing_plan_schedules h where h.pricing_plan_subscription_id = $2)`
    const own = ofSchedule('own_pricing_plan_version_id')
    await copy(
      'pricing_plans',
      `t.unlisted and t.id = ${ofSchedule('pricing_plan_id')}`,
      `jsonb_build_object('id', c.plan, 'reference', c.plan)`,
    )
    await copy(
      'pricing_plan_versions',
      `t.id = ${own}`,
      `jsonb_build_object('id', c.version, 'pricing_plan_id', c.plan, 'status', 'DRAFT')`,
    )
    await copy(
      'pricings',
      `t.pricing_plan_version_id = ${own}`,
      `jsonb_build_object('id', c.pricing, 'pricing_plan_version_id', c.version)`,
    )
    await client.query(`update pricing_plan_versions set status = 'ACTIVE' where unlisted and status = 'DRAFT'`)
    const ofPrices = `jsonb_build_object('own_pricing_plan_version_id', c.version, 'pricing_plan_version_id', c.version,
      'pricing_plan_id', c.plan)`
    await copy(
      'pricing_plan_schedules',
      't.pricing_plan_subscription_id = $2',
      `jsonb_build_object('id', c.schedule, 'pricing_plan_subscription_id', c.subscription)
       || case when t.own_pricing_plan_version_id is null then '{}' else ${ofPrices} end`,
    )
    await copy(
      'seat_assignments',
      't.pricing_plan_subscription_id = $2',
      `jsonb_build_object('id', 'seat_' || left(md5(t.id || c.subscription), 22), 'pricing_plan_subscription_id', c.subscription)`,
    )
    // Not the tables that are empty still: PostgreSQL would take them for empty for good, and keep plans that read them whole.
    await client.query(
      'analyze customers, pricing_plan_subscriptions, pricing_plan_schedules, seat_assignments, pricings',
    )
  } finally {
    await client.end()
  }
  return copies.map(({ customer, subscription, number }) => ({
    customerId: customer,
    subscriptionId: subscription,
    number,
  }))
}

/** A number that says where a subscription is stored among all of them: always the same, and like chance. */
const mixed = ({ number, place }: { readonly number: number; readonly place: number }): number =>
  Math.imul(number * 2 + place + 1, 0x9e3779b1) >>> 0
