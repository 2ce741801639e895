// A year of a random customer through the api, in the time of a test clock: what happens in the story is sent as requests at its
// time, and the code that bills in LIVE does the rest.
import { decimal } from '../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { NO_USAGE } from '../no-usage.ts'
import { configOf, termsOf } from './bill-year.ts'
import {
  type Action,
  DAY,
  type Deal,
  type Kind,
  knownAt,
  type Plan,
  type Price,
  type Story,
  storyOf,
  YEAR_DAYS,
} from './story.ts'

const BASE_FEE: Price = {
  id: 'base',
  kind: 'FEE',
  inAdvance: true,
  amount: 100_000,
  above: null,
  billing: null,
  pricing: null,
  minimum: null,
  discount: null,
}

/**
 * The story of a seed, as far as requests give it here: prices that follow the periods of the subscription, seats of one item that
 * every plan sells or none does, and usage that arrives in time. The simulation in pure code has the rest.
 */
export function liveStory(seed: number): Story {
  const story = storyOf(seed)
  const withSeats = story.actions.some(({ type }) => type === 'SEAT')
  const plans = story.plans.map(({ id, prices }): Plan => {
    const place = Math.max(
      0,
      prices.findIndex(({ kind }) => kind === 'SEATS'),
    )
    const kindAt = (index: number, kind: Kind): Kind =>
      withSeats && index === place ? 'SEATS' : kind === 'SEATS' ? 'FEE' : kind
    const followed = prices.map((price, index): Price => {
      const kind = kindAt(index, price.kind)
      const above = kind === 'USAGE' ? price.above : null
      const inAdvance = kind === 'ONCE' || (kind !== 'USAGE' && price.inAdvance)
      const clauses = kind === 'ONCE' ? { minimum: null, discount: null } : {}
      return { ...price, kind, inAdvance, above, billing: null, pricing: null, ...clauses }
    })
    // The first invoice has something to charge: one of nothing is not made, and what comes later in its period would be on it.
    return { id, prices: id === story.plans[0]?.id ? [...followed, BASE_FEE] : followed }
  })
  let current = 0
  const deals: Deal[] = [...story.deals]
  let place = 0
  const actions = story.actions.map((action): Action => {
    if (action.type !== 'PLAN') return action
    // change-plan is what refunds, and it takes another plan than the one of now.
    const refund = action.refund && action.plan !== current
    current = action.plan
    place += 1
    // What change-plan makes is ACTIVE at once, and prices are overridden in drafts.
    if (refund) deals[place] = { included: deals[place]?.included ?? [], amounts: new Map() }
    // change-plan takes no new billing day.
    return { ...action, refund, realign: action.realign && !refund }
  })
  return {
    ...story,
    plans,
    deals,
    actions,
    usage: story.usage.map(({ time, versions: [first] }) => ({
      time,
      versions: [{ arrives: time, quantity: first?.quantity ?? 1 }],
    })),
  }
}

export type LiveYear = {
  readonly story: Story
  readonly subscriptionId: string
  /** The names of the story by the ids of the api: prices, and schedules. */
  readonly names: Map<string, string>
}

const text = (moment: number): string => formatInstant(instantOf(moment))
const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
const SCHEDULES = '/v1/pricing-plan-schedules'

/** Usage of these stories, by the calculation that counts it. */
export function usageOfStories(stories: ReadonlyMap<string, Story>): UsageReader {
  return {
    ...NO_USAGE,
    read: async (_tenant, _parts, { calculation, interval }) => {
      const own = (stories.get(calculation.id)?.usage ?? []).filter(
        ({ time }) => interval.start <= time && time < interval.end,
      )
      if (own.length === 0) return []
      const total = own.reduce((sum, { versions: [first] }) => sum + (first?.quantity ?? 0), 0)
      return [{ currency: null, number: decimal(String(total)), count: own.length }]
    },
  }
}

/** Runs the year of a story; `stories` gets what counts its usage. */
export async function liveYear(
  tenant: TestTenant,
  story: Story,
  stories: Map<string, Story>,
  until = story.start + YEAR_DAYS * DAY,
): Promise<LiveYear> {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', url.startsWith('/') ? url : `/v1/${url}`, body)
  const names = new Map<string, string>()
  const customer = await newCustomer(tenant, story.zone)
  const entity = await post('billing-entities', {
    reference: seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: ADDRESS,
  })
  const value = await post('meter-values', {
    reference: seed.unique('units'),
    name: 'Units',
    type: 'NUMBER',
    status: 'ACTIVE',
  })
  const meter = await post('meters', {
    reference: seed.unique('meter'),
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
  })
  const calculation = await post('meter-value-calculations', {
    reference: seed.unique('sum'),
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: value['id'],
  })
  stories.set(calculation['id'], story)
  const seatItem = await newItem(tenant, { name: 'Seats', model_type: 'PER_SEAT' })
  const catalog = { calculation: calculation['id'], seatItem, ids: new Map<string, string>() }
  const sold: Sold[] = []
  for (const plan of story.plans) sold.push(await sell(tenant, plan, catalog))
  for (const { id } of story.plans.flatMap(({ prices }) => prices)) names.set(idIn(catalog, `config ${id}`), id)
  await post('pricing-plan-groups', {
    reference: seed.unique('tiers'),
    status: 'ACTIVE',
    pricing_plan_ids: sold.map(({ plan }) => plan),
    upgrade_type: 'IMMEDIATE_PRO_RATA',
    downgrade_type: 'IMMEDIATE_PRO_RATA',
  })
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
    billing_period: story.billing,
    billing_time: story.calendar ? 'CALENDAR' : 'EXACT',
  })
  const subscriptionId: string = subscription['id']
  const { phases } = knownAt(story, Number.POSITIVE_INFINITY)
  const termsAt = (place: number): object => {
    const phase = phases[place]
    if (!phase) throw new Error(`there is no schedule ${place}`)
    return termsOf(phase, {
      pricing: plan => idIn(catalog, `pricing ${plan}`),
      item: price => idIn(catalog, `item ${price}`),
      config: price => idIn(catalog, `config ${price}`),
    })
  }
  const steps: Steps = { tenant, subscriptionId, sold, seatItem: seatItem.item, termsAt, names }
  await addSchedule(steps, {
    place: 0,
    plan: 0,
    start: story.start,
    ...(story.trial ? { more: { type: 'TRIAL' } } : {}),
  })
  const clock = await post('test-clocks', { frozen_time: text(story.start), customer_ids: [customer['reference']] })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${subscriptionId}`, { status: 'ACTIVE' })
  const advance = async (moment: number): Promise<void> => {
    for (;;) {
      const answer = await post(`test-clocks/${clock['id']}/advance`, { frozen_time: text(moment) })
      if (answer['failures'].length > 0) throw new Error(JSON.stringify(answer['failures']))
      if (answer['complete']) return
    }
  }
  for (const action of story.actions) {
    if (action.at > story.start) await advance(action.at)
    await act(action, steps)
  }
  const last = story.actions.at(-1)?.at ?? story.start
  if (until > last) await advance(until)
  return { story, subscriptionId, names }
}

const ADDRESS = { country: 'NL', city: 'Utrecht' }
const newCustomer = (tenant: TestTenant, timezone = 'UTC'): Promise<Row> =>
  succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    timezone,
    organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: ADDRESS },
  })

type Sold = { readonly plan: string; readonly version: string }
type Steps = {
  readonly tenant: TestTenant
  readonly subscriptionId: string
  readonly sold: readonly Sold[]
  readonly seatItem: string
  /** What the schedule at a place in their order says of its prices. */
  readonly termsAt: (place: number) => object
  readonly names: Map<string, string>
}

/** A schedule that follows the one before. */
async function addSchedule(
  { tenant, subscriptionId, sold, termsAt, names }: Steps,
  of: { readonly place: number; readonly plan: number; readonly start: number; readonly more?: object },
): Promise<void> {
  const { place, plan, start, more } = of
  const { id } = await succeed(tenant, 'POST', `${SCHEDULES}${place > 0 ? '?set_previous_end_at=true' : ''}`, {
    pricing_plan_subscription_id: subscriptionId,
    pricing_plan_version_id: sold[plan]?.version,
    start_at: text(start),
    pricing_currency: 'EUR',
    ...more,
    ...termsAt(place),
  })
  names.set(id, `schedule${place}`)
  if (place > 0) await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
}

/** Sends what the story says at this time. */
async function act(action: Action, steps: Steps): Promise<void> {
  const { tenant, subscriptionId, sold, seatItem, termsAt, names } = steps
  const on = (call: string, body: object) => succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${subscriptionId}/${call}`, body)
  const start = (moment: number) => (moment > action.at ? { start_at: text(moment) } : {})
  switch (action.type) {
    case 'PLAN': {
      const place = [...names.values()].filter(name => name.startsWith('schedule')).length
      const more = { realign_invoice_date_to_pricing_plan_schedule_start_at: action.realign }
      if (!action.refund) return await addSchedule(steps, { place, plan: action.plan, start: action.at, more })
      const next = await on('change-plan', { pricing_plan_id: sold[action.plan]?.plan })
      names.set(next['id'], `schedule${place}`)
      await succeed(tenant, 'PATCH', `${SCHEDULES}/${next['id']}`, termsAt(place))
      return
    }
    case 'CANCEL': {
      const when = action.when > action.at ? { type: 'DATE', cancel_at: text(action.when) } : { type: 'NOW' }
      await on('cancel', { ...when, refund_advance_charges: action.refund })
      return
    }
    case 'UNDO':
      await on('cancel', { type: 'UNDO' })
      return
    case 'PAUSE':
      await on('pause', { ...start(action.start), end_at: text(action.end) })
      return
    case 'SEAT': {
      const occupant = await newCustomer(tenant)
      const { start: from, end } = action.seat
      await succeed(tenant, 'POST', '/v1/seat-assignments', {
        pricing_plan_subscription_id: subscriptionId,
        product_item_id: seatItem,
        customer_id: occupant['id'],
        start_at: text(from),
        ...(end === null ? {} : { end_at: text(end) }),
      })
    }
  }
}

const MODELS = { FEE: 'RECURRING', SEATS: 'PER_SEAT', USAGE: 'USAGE_BASED', ONCE: 'ONE_OFF' } as const

type Item = { readonly product: string; readonly item: string }
type Catalog = {
  readonly calculation: string
  readonly seatItem: Item
  /** The ids of what is sold, by `pricing <plan>`, `item <price>` and `config <price>`. */
  readonly ids: Map<string, string>
}

function idIn({ ids }: Catalog, name: string): string {
  const id = ids.get(name)
  if (id === undefined) throw new Error(`${name} is not in the catalog`)
  return id
}

/** An item of a product of its own. */
async function newItem(tenant: TestTenant, body: object): Promise<Item> {
  const { seed } = tenant
  const product = await succeed(tenant, 'POST', '/v1/products', {
    reference: seed.unique('product'),
    name: 'Product',
    status: 'ACTIVE',
  })
  const item = await succeed(tenant, 'POST', '/v1/product-items', {
    reference: seed.unique('item'),
    product_id: product['id'],
    status: 'ACTIVE',
    ...body,
  })
  return { product: product['id'], item: item['id'] }
}

/** A plan of the story in the catalog; `ids` gets those of its prices. */
async function sell(tenant: TestTenant, plan: Plan, { calculation, seatItem, ids }: Catalog): Promise<Sold> {
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const { seed } = tenant
  const items: Item[] = []
  for (const { id: name, kind } of plan.prices) {
    const counted = kind === 'USAGE' ? { usage_based: { meter_value_calculation_id: calculation } } : {}
    items.push(kind === 'SEATS' ? seatItem : await newItem(tenant, { name, model_type: MODELS[kind], ...counted }))
  }
  const { id } = await post('pricing-plans', { reference: seed.unique('plan'), name: plan.id })
  const version = await post('pricing-plan-versions', { pricing_plan_id: id })
  const pricing = await post('pricings', {
    pricing_plan_version_id: version['id'],
    name: plan.id,
    product_ids: items.map(({ product }) => product),
    items: plan.prices.map((price, index) => {
      const { id: _, ...config } = configOf(price)
      return { product_item_ids: [items[index]?.item], configs: [config] }
    }),
  })
  ids.set(`pricing ${plan.id}`, pricing['id'])
  for (const [index, price] of plan.prices.entries()) {
    ids.set(`item ${price.id}`, pricing['items'][index].id)
    ids.set(`config ${price.id}`, pricing['items'][index].configs[0].id)
  }
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  return { plan: id, version: version['id'] }
}
