// A year of a random customer through the api, in the time of a test clock: what happens in the story is sent as requests at its
// time, and the code that bills in LIVE does the rest.
import { decimal } from '../../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../../shared/time.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import type { UsageReader } from '../../../usage/usage-reader.ts'
import { NO_USAGE } from '../../no-usage.ts'
import { type Action, knownAt, type Phase, type Story } from '../story.ts'
import { termsOf } from '../story-terms.ts'
import { type Catalog, idIn, makeCatalog, makeCoupon } from './live-catalog.ts'

export type LiveYear = {
  readonly story: Story
  readonly subscriptionId: string
  /** The names of the story by the ids of the api: prices, coupons and schedules. */
  readonly names: ReadonlyMap<string, string>
}
type Year = LiveYear & { readonly names: Map<string, string> }

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

/** How far the year runs, and what counts the usage of its stories, which it fills in. */
type Run = { readonly until: number; readonly stories: Map<string, Story> }

/**
 * Runs the year of a customer, who has one subscription a story; those of several combine. Each is made from a template where its story
 * says so, and otherwise by itself.
 */
export async function liveYears(
  tenant: TestTenant,
  stories: readonly [Story, ...Story[]],
  { until, stories: counted }: Run,
): Promise<readonly LiveYear[]> {
  const [{ zone }] = stories
  const customer = await newCustomer(tenant, zone)
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: ADDRESS,
  })
  const shared: Shared = { tenant, customer: customer['id'], entity: entity['id'], combine: stories.length > 1 }
  const starts: Start[] = []
  for (const story of stories) {
    const catalog = await makeCatalog(tenant, story)
    counted.set(catalog.calculation, story)
    starts.push(await prepared({ ...shared, story, catalog }))
  }
  const begins = Math.min(...stories.map(({ start }) => start))
  const clock = await succeed(tenant, 'POST', '/v1/test-clocks', {
    frozen_time: text(begins),
    customer_ids: [customer['reference']],
  })
  let now = begins
  const advance = async (moment: number): Promise<void> => {
    if (moment <= now) return
    now = moment
    for (;;) {
      const answer = await succeed(tenant, 'POST', `/v1/test-clocks/${clock['id']}/advance`, {
        frozen_time: text(moment),
      })
      if (answer['failures'].length > 0) throw new Error(JSON.stringify(answer['failures']))
      if (answer['complete']) return
    }
  }
  const years: Year[] = []
  const steps = starts
    .flatMap(({ story, start, act }, place) => [
      {
        at: story.start,
        do: async () => {
          years[place] = await start()
        },
      },
      ...story.actions.map(action => ({ at: action.at, do: async () => act(action, years[place]) })),
    ])
    .toSorted((a, b) => a.at - b.at)
  for (const step of steps.filter(({ at }) => at <= until)) {
    await advance(step.at)
    await step.do()
  }
  await advance(until)
  return years
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

type Shared = {
  readonly tenant: TestTenant
  readonly customer: string
  readonly entity: string
  readonly combine: boolean
}
type Of = Shared & { readonly story: Story; readonly catalog: Catalog }
type Start = {
  readonly story: Story
  /** Makes the subscription ACTIVE. */
  readonly start: () => Promise<Year>
  readonly act: (action: Action, year: Year | undefined) => Promise<void>
}

/** What is made before the subscription begins. */
async function prepared(of: Of): Promise<Start> {
  const { tenant, customer, entity, combine, story, catalog } = of
  const { names } = catalog
  const ending = story.actions.find(({ type, at }) => type === 'TERM' && at === story.start)
  const sold = {
    billing_entity_id: entity,
    billing_currency: 'EUR',
    billing_period: story.billing,
    billing_time: story.calendar ? 'CALENDAR' : 'EXACT',
    ...(story.terms
      ? {
          initial_term: story.terms.initial,
          ...(story.terms.renewal ? { renewal_term: story.terms.renewal } : {}),
          auto_renewal: ending === undefined,
        }
      : {}),
  }
  const made = await succeed(tenant, 'POST', SUBSCRIPTIONS, {
    ...sold,
    ...(story.template ? { type: 'TEMPLATE' } : { customer_id: customer, combine }),
  })
  const id: string = made['id']
  const act: Start['act'] = async (action, year) => {
    if (year && action !== ending) await doAction(action, { ...of, year })
  }
  const trial = story.trial ? { type: 'TRIAL' } : {}
  const { template } = story
  if (!template) {
    const first = await addSchedule(of, { subscription: id, place: 0, plan: 0, start: story.start, more: trial })
    names.set(first, 'schedule0')
    const start = async (): Promise<Year> => {
      await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
      return { story, subscriptionId: id, names }
    }
    return { story, start, act }
  }
  const { start: begins, change, plan } = template
  const more = { ...trial, end_at: text(change) }
  await addSchedule(of, { subscription: id, place: 0, plan: 0, start: begins, more })
  await addSchedule(of, { subscription: id, place: 1, plan, start: change })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
  const start = async (): Promise<Year> => {
    const { pricing_plan_subscription: subscription, pricing_plan_schedules: schedules } = await succeed(
      tenant,
      'POST',
      `${SUBSCRIPTIONS}/init`,
      { template_pricing_plan_subscription_id: id, customer_id: customer, combine, status: 'ACTIVE' },
    )
    for (const [place, schedule] of schedules.entries()) names.set(schedule.id, `schedule${place}`)
    return { story, subscriptionId: subscription.id, names }
  }
  return { story, start, act }
}

/** What the schedule at a place in their order says of its prices. */
async function termsAt({ tenant, story, catalog }: Of, place: number): Promise<object> {
  const phase: Phase | undefined = knownAt(story, Number.POSITIVE_INFINITY).phases[place]
  if (!phase) throw new Error(`there is no schedule ${place}`)
  const coupon_ids: string[] = []
  for (const coupon of phase.deal.coupons) coupon_ids.push(await makeCoupon(tenant, catalog, coupon))
  const terms = termsOf(phase, {
    pricing: plan => idIn(catalog, `pricing ${plan}`),
    item: price => idIn(catalog, `item ${price}`),
    config: price => idIn(catalog, `config ${price}`),
  })
  return coupon_ids.length === 0 ? terms : { ...terms, coupon_ids }
}

/** A schedule that follows the one before; gives its id. */
async function addSchedule(
  of: Of,
  given: {
    readonly subscription: string
    readonly place: number
    readonly plan: number
    readonly start: number
    readonly more?: object
    readonly query?: string
  },
): Promise<string> {
  const { subscription, place, plan, start, more, query = '' } = given
  const { id } = await succeed(of.tenant, 'POST', `${SCHEDULES}${query}`, {
    pricing_plan_subscription_id: subscription,
    pricing_plan_version_id: of.catalog.sold[plan]?.version,
    start_at: text(start),
    pricing_currency: 'EUR',
    ...more,
    ...(await termsAt(of, place)),
  })
  return id
}

/** Sends what the story says at this time. */
async function doAction(action: Action, of: Of & { readonly year: Year }): Promise<void> {
  const { tenant, story, catalog, year } = of
  const { subscriptionId, names } = year
  const url = `${SUBSCRIPTIONS}/${subscriptionId}`
  const on = (call: string, body: object) => succeed(tenant, 'POST', `${url}/${call}`, body)
  const start = (moment: number) => (moment > action.at ? { start_at: text(moment) } : {})
  switch (action.type) {
    case 'PLAN': {
      const place = [...names.values()].filter(name => name.startsWith('schedule')).length
      if (action.refund) {
        const { id } = await on('change-plan', { pricing_plan_id: catalog.sold[action.plan]?.plan })
        names.set(id, `schedule${place}`)
        await succeed(tenant, 'PATCH', `${SCHEDULES}/${id}`, await termsAt(of, place))
        return
      }
      const more = { realign_invoice_date_to_pricing_plan_schedule_start_at: action.realign }
      const at = { subscription: subscriptionId, place, plan: action.plan, start: action.at, more }
      const id = await addSchedule(of, { ...at, query: '?set_previous_end_at=true' })
      names.set(id, `schedule${place}`)
      await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
      return
    }
    case 'CANCEL': {
      const when = action.when > action.at ? { type: 'DATE', cancel_at: text(action.when) } : { type: 'NOW' }
      await on('cancel', { ...when, refund_advance_charges: action.refund })
      return
    }
    case 'TERM':
      if (action.cancelled) await on('cancel', { type: 'AFTER_INITIAL_TERM' })
      else await succeed(tenant, 'PATCH', url, { auto_renewal: false })
      return
    case 'UNDO': {
      const said = story.actions.findLast(({ at, type }) => at < action.at && (type === 'TERM' || type === 'CANCEL'))
      if (said?.type === 'TERM' && !said.cancelled) await succeed(tenant, 'PATCH', url, { auto_renewal: true })
      else await on('cancel', { type: 'UNDO' })
      return
    }
    case 'PAUSE':
      await on('pause', { ...start(action.start), end_at: text(action.end) })
      return
    case 'RESUME':
      await on('resume', {})
      return
    case 'SEAT': {
      const occupant = await newCustomer(tenant)
      const { start: from, end } = action.seat
      await succeed(tenant, 'POST', '/v1/seat-assignments', {
        pricing_plan_subscription_id: subscriptionId,
        product_item_id: catalog.seatItem.item,
        customer_id: occupant['id'],
        start_at: text(from),
        ...(end === null ? {} : { end_at: text(end) }),
      })
    }
  }
}
