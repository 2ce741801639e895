// The usage of simulated years as events: sent when they arrive, some late, some again with the same or with another content, and
// deleted and amended when the story says so.
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import { chance, type Random, randomOf, whole } from '../random.ts'
import { DAY, type Story, type Usage, YEAR_DAYS } from '../story.ts'
import type { Catalog } from './live-catalog.ts'
import type { LiveUsage, Named, Step } from './live-year.ts'

/** Where events go. */
export type EventDoors = {
  /** To the gateway, which must take them. */
  readonly send: (events: readonly object[]) => Promise<void>
  /** Has what is stored rolled up. */
  readonly rollUp: () => Promise<void>
}

/** The event of a usage, by the place of the usage in its story. */
export type EventOf = { readonly usage: Usage; readonly reference: string }

/** Usage as events; `events` has those of a story. */
export function usageByEvents(
  tenant: TestTenant,
  { send, rollUp }: EventDoors,
): LiveUsage & { readonly events: ReadonlyMap<Story, readonly EventOf[]> } {
  const events = new Map<Story, readonly EventOf[]>()
  return {
    events,
    stepsOf: ({ story, catalog, customer }) => {
      const random = randomOf(story.seed + 10_000_019)
      const own = story.usage.map(usage => ({ usage, reference: tenant.seed.unique('event') }))
      events.set(story, own)
      const helper = { reference: tenant.seed.unique('helper') }
      const subscription = story.namesSubscription ? subscriptionOf(tenant, catalog, customer) : null
      const steps = own.flatMap(event =>
        stepsOf(event, { tenant, send, random, catalog, customer, helper, subscription }),
      )
      const rolled = Array.from({ length: 2 }, () => ({ at: story.start + random() * YEAR_DAYS * DAY, do: rollUp }))
      // Some find an invoice that collects as it was computed a moment before.
      const made =
        story.helperAt === undefined ? [] : [{ at: story.helperAt, do: () => makeHelper(tenant, customer, helper) }]
      return [...steps, ...rolled, ...made].map(step => ({ ...step, early: chance(random, 0.7) }))
    },
  }
}

type Of = {
  readonly tenant: TestTenant
  readonly send: EventDoors['send']
  readonly random: Random
  readonly catalog: Catalog
  /** Its id and its reference. */
  readonly customer: Named
  readonly helper: Pick<Named, 'reference'>
  /** How an event names the subscription; null where none does. */
  readonly subscription: (() => Promise<object>) | null
}

/** Finds the subscription that sells the plans of a catalog, once it is there. */
function subscriptionOf(tenant: TestTenant, { sold }: Catalog, { id: customer }: Named): () => Promise<object> {
  let found: Promise<object> | null = null
  const find = async (): Promise<object> => {
    const url = `/v1/pricing-plan-subscriptions?customer_id=${customer}&limit=100`
    for (const { id } of (await succeed(tenant, 'GET', url))['data']) {
      const schedules = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`)
      const versions = (schedules['data'] as { pricing_plan_version_id: string }[]).map(
        each => each.pricing_plan_version_id,
      )
      if (sold.some(({ version }) => versions.includes(version))) return { pricing_plan_subscription_id: id }
    }
    throw new Error('events come after their subscription')
  }
  return () => {
    found ??= find()
    return found
  }
}

/** Of two customers the second processes for the first. */
async function makeHelper(tenant: TestTenant, { id }: Named, { reference }: Pick<Named, 'reference'>): Promise<void> {
  await succeed(tenant, 'POST', '/v1/customers', {
    reference,
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Helper', registered_address: { country: 'NL' } },
    parent_customer_id: id,
    roles: ['PROCESSING_ONLY'],
  })
}

function stepsOf({ usage, reference }: EventOf, of: Of): Step[] {
  const { tenant, send, random, catalog, customer, helper } = of
  const measured = (quantity: number) => ({
    meter_values: [{ reference: catalog.value, number: String(quantity) }],
    ...(catalog.property ? { meter_properties: [{ reference: catalog.property, value: String(quantity) }] } : {}),
  })
  // Either name is the same customer.
  const own = chance(random, 0.3) ? { customer_id: customer.id } : { customer_reference: customer.reference }
  const named = usage.sent ? { customer_reference: helper.reference } : own
  const event = (quantity: number, time: number) => ({
    reference,
    ...named,
    meter_reference: catalog.meter,
    timestamp: new Date(time).toISOString(),
    ...measured(quantity),
  })
  const isNamed = of.subscription !== null && !usage.sent && chance(random, 0.5)
  const sendAll = async (all: readonly object[]): Promise<void> => {
    const name = isNamed && of.subscription ? await of.subscription() : {}
    await send(all.map(each => ({ ...each, ...name })))
  }
  const [first, ...changes] = usage.sent ?? usage.versions
  if (!first || first.quantity === null) throw new Error('usage begins with a quantity')
  const { arrives, quantity } = first
  const changed = changes.map(
    (change): Step => ({
      at: change.arrives,
      do: async () => {
        const url = `/v1/events/${reference}`
        if (change.quantity === null) await succeed(tenant, 'POST', `${url}/delete`)
        else await succeed(tenant, 'POST', `${url}/amend`, measured(change.quantity))
      },
    }),
  )
  const repeats = Array.from({ length: chance(random, 0.3) ? whole(random, 1, 2) : 0 }, (): Step => {
    const at = arrives + Math.floor(random() * 90 * DAY)
    const other = event(quantity + whole(random, 1, 50), usage.time + whole(random, -40, 40) * DAY)
    const again = chance(random, 0.5) ? event(quantity, usage.time) : other
    return { at, do: () => sendAll([again]) }
  })
  const sent = [event(quantity, usage.time), ...(chance(random, 0.1) ? [event(quantity + 7, usage.time)] : [])]
  return [{ at: arrives, do: () => sendAll(sent) }, ...changed, ...repeats]
}
