// A year of a random customer through the api, in the time of a test clock: what happens in the story is sent as requests at its
// time, and the code that bills in LIVE does the rest.
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { closingsOf } from '../closings.ts'
import type { Action, Story } from '../story.ts'
import { doAction, type Sold } from './live-actions.ts'
import { type Catalog, makeCatalog } from './live-catalog.ts'
import { addSchedule, newCustomer, newEntity, type Sale, SUBSCRIPTIONS, termsAt, text } from './live-schedules.ts'

export type LiveYear = {
  readonly story: Story
  readonly customerId: string
  readonly subscriptionId: string
  /** The names of the story by the ids of the api: prices, coupons and schedules. */
  readonly names: ReadonlyMap<string, string>
}
type Year = LiveYear & Sold

/** What a customer does besides: at these moments, and once more when the year is over. */
export type Beside = {
  readonly moments: readonly number[]
  step(now: number, last: boolean): Promise<void>
  /** What is paid, or was tried to be paid, before a subscription is there; null for none. */
  firstPayment(): object | null
  /** It was made with that. */
  firstPaid(made: Row): void
}
const NOTHING: Beside = {
  moments: [],
  step: async () => undefined,
  firstPayment: () => null,
  firstPaid: () => undefined,
}

/** What is done at a moment; `early`: it may be done as soon as the last invoice before has closed. */
export type Step = { readonly at: number; readonly do: () => Promise<void>; readonly early?: boolean }
export type Named = { readonly id: string; readonly reference: string }
/** How the usage of stories comes to where billing reads it. */
export type LiveUsage = {
  /** What is done for the usage of a story of this customer, and when. Its meter is there, and its subscription not yet. */
  stepsOf(of: { readonly story: Story; readonly catalog: Catalog; readonly customer: Named }): readonly Step[]
}

/** How far the year runs, how its usage comes, and what the customer does besides. */
type Run = {
  readonly until: number
  readonly usage: LiveUsage
  readonly beside?: (of: { readonly customer: string; readonly entity: string; readonly begins: number }) => Beside
}

/**
 * Runs the year of a customer, who has one subscription a story; those of several combine. Each is made from a template where its story
 * says so, and otherwise by itself.
 */
export async function liveYears(
  tenant: TestTenant,
  stories: readonly [Story, ...Story[]],
  { until, usage, beside: besideOf = () => NOTHING }: Run,
): Promise<readonly LiveYear[]> {
  const [{ zone }] = stories
  const customer = await newCustomer(tenant, zone)
  const entity = await newEntity(tenant)
  const begins = Math.min(...stories.map(({ start }) => start))
  const of = { customer: customer['id'], entity }
  const beside = besideOf({ ...of, begins })
  const shared: Shared = { ...of, tenant, beside, combine: stories.length > 1 }
  const starts: Start[] = []
  const arrivals: Step[] = []
  for (const story of stories) {
    const catalog = await makeCatalog(tenant, story)
    const named = { id: customer['id'], reference: customer['reference'] }
    arrivals.push(...usage.stepsOf({ story, catalog, customer: named }))
    starts.push(await prepared({ ...shared, story, catalog }))
  }
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
    .flatMap(({ story, start, act }, place): Step[] => [
      {
        at: story.start,
        do: async () => {
          years[place] = await start()
        },
      },
      ...story.actions.map(action => ({ at: action.at, do: async () => act(action, years[place]) })),
    ])
    .concat(arrivals)
    .concat(beside.moments.map(at => ({ at, do: async () => beside.step(at, false) })))
    .toSorted((a, b) => a.at - b.at)
  const cutoffs = stories.flatMap(story =>
    closingsOf(story).flatMap(({ cutoff, issued }) => [cutoff, issued, issued + (story.grace ?? 0)]),
  )
  for (const step of steps.filter(({ at }) => at <= until)) {
    // To turn a clock takes longer than all else that a step does. What an action closes at its own moment is issued by the next turn.
    if (!step.early || cutoffs.some(cutoff => now <= cutoff && cutoff <= step.at)) await advance(step.at)
    await step.do()
  }
  await advance(until)
  await beside.step(until, true)
  return years
}

type Shared = {
  readonly tenant: TestTenant
  readonly customer: string
  readonly entity: string
  readonly combine: boolean
  readonly beside: Beside
}
type Of = Shared & Sale
type Start = {
  readonly story: Story
  /** Makes the subscription ACTIVE. */
  readonly start: () => Promise<Year>
  readonly act: (action: Action, year: Year | undefined) => Promise<void>
}

/** What is made before the subscription begins. */
async function prepared(of: Of): Promise<Start> {
  const { story } = of
  const ending = story.actions.find(({ type, at }) => type === 'TERM' && at === story.start)
  const act: Start['act'] = async (action, year) => {
    if (year && action !== ending) await doAction(action, { ...of, sold: year })
  }
  const terms = story.terms
    ? {
        initial_term: story.terms.initial,
        ...(story.terms.renewal ? { renewal_term: story.terms.renewal } : {}),
        auto_renewal: ending === undefined,
      }
    : {}
  const sold = {
    billing_entity_id: of.entity,
    billing_currency: 'EUR',
    billing_period: story.billing,
    billing_time: story.calendar ? 'CALENDAR' : 'EXACT',
    ...terms,
  }
  // What is paid first is issued by itself, and at once: before seats that are taken at this moment. A trial charges nothing.
  const isPlain = !(story.template || story.trial || of.combine || story.actions.some(({ at }) => at === story.start))
  const first = isPlain ? of.beside.firstPayment() : null
  if (first) return { story, act, start: () => atOnce(of, sold, first) }
  return { story, act, start: story.template ? await fromTemplate(of, sold) : await activated(of, sold) }
}

const TRIAL = { type: 'TRIAL' }

/** A DRAFT that becomes ACTIVE. */
async function activated(of: Of, sold: object): Promise<Start['start']> {
  const { tenant, customer, combine, story, catalog } = of
  const { names } = catalog
  const { id } = await succeed(tenant, 'POST', SUBSCRIPTIONS, { ...sold, customer_id: customer, combine })
  const more = story.trial ? TRIAL : {}
  names.set(await addSchedule(of, { subscription: id, place: 0, plan: 0, start: story.start, more }), 'schedule0')
  return async () => {
    await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
    return { story, customerId: customer, subscriptionId: id, names }
  }
}

/** One that is made from a template. */
async function fromTemplate(of: Of, sold: object): Promise<Start['start']> {
  const { tenant, customer, combine, story, catalog } = of
  const { names } = catalog
  const { start, change, plan } = story.template ?? { start: 0, change: 0, plan: 0 }
  const { id } = await succeed(tenant, 'POST', SUBSCRIPTIONS, { ...sold, type: 'TEMPLATE' })
  const more = { ...(story.trial ? TRIAL : {}), end_at: text(change) }
  await addSchedule(of, { subscription: id, place: 0, plan: 0, start, more })
  await addSchedule(of, { subscription: id, place: 1, plan, start: change })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
  return async () => {
    const made = await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/init`, {
      template_pricing_plan_subscription_id: id,
      customer_id: customer,
      combine,
      status: 'ACTIVE',
    })
    for (const [place, schedule] of made['pricing_plan_schedules'].entries()) names.set(schedule.id, `schedule${place}`)
    return { story, customerId: customer, subscriptionId: made['pricing_plan_subscription'].id, names }
  }
}

/** One that is made with its first payment. */
async function atOnce(of: Of, sold: object, first_payment: object): Promise<Year> {
  const { tenant, customer, beside, story, catalog } = of
  const { names } = catalog
  const made = await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/init`, {
    pricing_plan_subscription: { ...sold, customer_id: customer, status: 'ACTIVE' },
    pricing_plan_subscription_start_at: text(story.start),
    pricing_plan_schedules: [
      {
        pricing_plan_version_id: catalog.sold[0]?.version,
        pricing_currency: 'EUR',
        ...(await termsAt(of, 0)),
      },
    ],
    first_payment,
  })
  names.set(made['pricing_plan_schedules'][0].id, 'schedule0')
  beside.firstPaid(made)
  return { story, customerId: customer, subscriptionId: made['id'] ?? made['pricing_plan_subscription'].id, names }
}
