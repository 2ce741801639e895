// What the database knows that decides whether events are billed, for many events in one reading.
import { and, or, sql } from 'drizzle-orm'
import type { Attribution, DecidedBy } from '../../../../../shared/attribution/attribute.ts'
import { placesOf } from '../../../../../shared/attribution/replicate.ts'
import { namedSubscription, subscriptionKey } from '../../../../../shared/attribution/selector.ts'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { preparedQuery } from '../../../../../shared/database/statements/prepared.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import { type Instant, instantOf, interval } from '../../../../../shared/time.ts'
import { inPlaceholders, inThisTenant } from '../../../../resource/tenant-condition.ts'
import type { EventKey } from '../../../../usage/stored-events.ts'
import { type Meter, meters } from '../../../catalog/meters/table.ts'
import { type Customer, customers } from '../../../parties/customers/table.ts'
import { directoryOf, loadAttribution } from '../../../subscriptions/attribution/load-attribution.ts'
import { subscriptions } from '../../../subscriptions/table.ts'
import { type BilledBy, loadClosedTime } from './closed-time.ts'
import { type BillingDecision, type BillingPlace, decideBilling, type FinalInvoice } from './decide-billing.ts'
import { isInvoicedOnce, loadPrices, type Rating } from './load-prices.ts'

/** What bills an event in one customer's place: the subscription, why that one, and the configs that rate it. */
export type RatedPlace = {
  readonly subscriptionId: string
  readonly by: DecidedBy
  readonly ratings: readonly RatedOnce[]
}
export type RatedOnce = Rating & { readonly invoicedOnce: boolean; readonly billedBy: BilledBy }
export type EventFacts = {
  /** The customer of a key that an event carries: an id or a reference. */
  customer(key: string): Customer | null
  meter(reference: string): Meter | null
  decide(event: EventKey): BillingDecision
  /** Where an event is rated: by its customer's subscription, and by those of parents it is replicated to. */
  ratedPlaces(event: EventKey): RatedPlace[]
}

/**
 * Reads what decides about these events: a fixed number of queries, however many they are, and some for each subscription that
 * had a state recorded after them.
 */
export async function loadFacts(uow: ReadUow, events: readonly EventKey[]): Promise<EventFacts> {
  // What does not need another's answer is asked at once: every wait for the database costs as much as a question.
  const [byKey, byReference, owners] = await Promise.all([
    loadCustomers(uow, unique(events.map(event => event.customerKey))),
    loadMeters(uow, unique(events.map(event => event.meterReference))),
    loadOwners(uow, events),
  ])
  const customerIds = unique([...byKey.values()].map(customer => customer.id))
  const attribution = await loadAttribution(uow, { customerIds, with: 'PARENTS' })
  const directory = directoryOf(attribution)
  const subscriptionIds = attribution.subscriptions.map(subscription => subscription.id)
  const versionIds = attribution.subscriptions.flatMap(({ held }) =>
    held.flatMap(({ version_id, own_version_id: own }) => (own === undefined ? [version_id] : [version_id, own])),
  )
  const [closed, periods, invoices] = await Promise.all([
    loadClosedTime(uow, subscriptionIds, events),
    loadPeriods(uow, subscriptionIds),
    loadFinalInvoices(uow, subscriptionIds, events),
  ])
  const prices = await loadPrices(uow, unique(versionIds), closed.names)
  const customer = (key: string): Customer | null => byKey.get(key) ?? null
  const rate = (found: Attribution, event: EventKey): RatedPlace | null => {
    if (found.kind === 'NONE') return null
    const { subscription, held, by } = found
    const of = periods.get(subscription.id)
    if (!of) throw new Error(`the periods of ${subscription.id} were not read`)
    // What is held may start within its schedule, where a rate card or an ADDON changes.
    const own = of.schedules.findLast(({ start_ms }) => Number(start_ms) <= held.start)
    const schedule = own?.billing_period ?? null
    const terms = {
      currency: own?.pricing_currency ?? of.billing_currency,
      billingPeriod: schedule ?? of.billing_period,
    }
    const at = closed.at(subscription.id, event)
    const { meterReference, properties } = event
    const inTurn = subscription.held.filter(each => each.ownVersionId === held.ownVersionId).map(each => each.versionId)
    const ratings = prices.ratingsOf({ held, inTurn, terms, meterReference, properties }, at.namesHash)
    const once = (rating: Rating) => isInvoicedOnce(rating, { subscription: of.billing_period, schedule })
    return {
      subscriptionId: subscription.id,
      by,
      ratings: ratings.map(rating => ({ ...rating, invoicedOnce: once(rating), billedBy: at.billedBy(rating) })),
    }
  }
  const placesFor = (event: EventKey): Attribution[] => {
    const found = customer(event.customerKey)
    return found ? placesOf(directory, found.id, event).map(place => place.attribution) : []
  }
  return {
    customer,
    meter: reference => byReference.get(reference) ?? null,
    ratedPlaces: event =>
      placesFor(event).flatMap(place => {
        const rated = rate(place, event)
        return rated && rated.ratings.length > 0 ? [rated] : []
      }),
    decide: event => {
      const found = customer(event.customerKey)
      return decideBilling({
        timestamp: event.timestamp,
        receivedAt: event.receivedAt,
        customer: found && { active: found.status === 'ACTIVE' },
        places: placesFor(event).map(place => billingPlace(place, rate(place, event), invoices)),
        named: namedOf(owners.get(event.subscription), found, event),
      })
    },
  }
}

function billingPlace(place: Attribution, rated: RatedPlace | null, invoices: FinalInvoices): BillingPlace {
  if (place.kind === 'NONE') return { kind: 'NONE', reason: place.reason }
  if (!rated || rated.ratings.length === 0) return { kind: 'NONE', reason: 'CONDITIONS_NOT_MET' }
  const once = rated.ratings.every(rating => rating.invoicedOnce)
  const kinds = rated.ratings.map(({ billedBy }) => billedBy.kind)
  const replaced = kinds.every(kind => kind === 'REPLACED')
  const tooLate = !replaced && kinds.every(kind => kind === 'NEVER' || kind === 'REPLACED')
  return { kind: 'RATED', replaced, tooLate, finalInvoices: once ? (invoices.get(rated.subscriptionId) ?? []) : [] }
}

function grouped<T>(list: readonly T[], keyOf: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const entry of list) {
    const group = groups.get(keyOf(entry))
    if (group) group.push(entry)
    else groups.set(keyOf(entry), [entry])
  }
  return groups
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

/** Runs for every page of events, which names fifty of them: prepared, so that neither side reads fifty parameters. */
const customersByKey = preparedQuery('customers of events', (tx, name) => {
  const keys = sql`any(${sql.placeholder('keys')}::text[])`
  return tx
    .select()
    .from(customers)
    .where(and(inPlaceholders(customers), sql`(${customers.id} = ${keys} or ${customers.reference} = ${keys})`))
    .prepare(name)
})

const metersByReference = preparedQuery('meters of events', (tx, name) =>
  tx
    .select()
    .from(meters)
    .where(and(inPlaceholders(meters), sql`${meters.reference} = any(${sql.placeholder('references')}::text[])`))
    .prepare(name),
)

async function loadCustomers(uow: ReadUow, keys: readonly string[]): Promise<Map<string, Customer>> {
  if (keys.length === 0) return new Map()
  const { platformId: platform, environment } = uow.tenant
  const rows = await customersByKey(uow.tx, { platform, environment, keys })
  // A reference never has the form of an id, so no key names two.
  return new Map(
    rows.flatMap(row => [row.id, ...(row.reference === null ? [] : [row.reference])].map(key => [key, row])),
  )
}

async function loadMeters(uow: ReadUow, references: readonly string[]): Promise<Map<string, Meter>> {
  if (references.length === 0) return new Map()
  const { platformId: platform, environment } = uow.tenant
  const rows = await metersByReference(uow.tx, { platform, environment, references })
  return new Map(rows.map(row => [row.reference, row]))
}

type Periods = {
  readonly id: string
  readonly billing_period: PeriodLength
  readonly billing_currency: string
  /** The ACTIVE schedules in the order of time; a billing period is null where it is that of the subscription. */
  readonly schedules: readonly {
    readonly start_ms: string
    readonly pricing_currency: string
    readonly billing_period: PeriodLength | null
  }[]
}

async function loadPeriods(uow: ReadUow, subscriptionIds: readonly string[]): Promise<Map<string, Periods>> {
  if (subscriptionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Periods>(sql`
    select s.id, s.billing_period, s.billing_currency, coalesce((
      select jsonb_agg(jsonb_build_object('start_ms', (extract(epoch from h.start_at) * 1000)::bigint::text,
        'pricing_currency', h.pricing_currency, 'billing_period', h.billing_period) order by h.start_at)
      from pricing_plan_schedules h
      where h.platform_id = s.platform_id and h.environment = s.environment and h.pricing_plan_subscription_id = s.id
        and h.status = 'ACTIVE'
    ), '[]') as schedules
    from pricing_plan_subscriptions s
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id in ${subscriptionIds}`)
  return new Map(rows.map(row => [row.id, row]))
}

/** Whose the subscriptions are that events name: customer ids by the events' own words. */
async function loadOwners(uow: ReadUow, events: readonly EventKey[]): Promise<Map<string, string>> {
  const asked = unique(events.map(event => event.subscription)).map(namedSubscription)
  const ids = asked.flatMap(each => (each.kind === 'ID' ? [each.id] : []))
  const references = asked.flatMap(each => (each.kind === 'REFERENCE' ? [each.reference] : []))
  if (ids.length + references.length === 0) return new Map()
  const { id, reference, customer_id } = subscriptions
  const named = or(anyOf(id, idsOf('ppsu', [...ids, ''])), anyOf(reference, [...references, '']))
  const rows = await uow.tx
    .select({ id, reference, customer_id })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), named))
  return new Map(
    rows.flatMap(({ id, reference, customer_id }) => {
      // A TEMPLATE is nobody's.
      if (customer_id === null) return []
      const byId = [subscriptionKey({ kind: 'ID', id }), customer_id] as const
      return reference === null
        ? [byId]
        : [byId, [subscriptionKey({ kind: 'REFERENCE', reference }), customer_id] as const]
    }),
  )
}

function namedOf(
  owner: string | undefined,
  customer: Customer | null,
  event: EventKey,
): 'OWN' | 'ANOTHERS' | 'NOBODYS' {
  const { kind } = namedSubscription(event.subscription)
  if (kind !== 'ID' && kind !== 'REFERENCE') return 'OWN'
  if (owner === undefined) return 'NOBODYS'
  return owner === customer?.id ? 'OWN' : 'ANOTHERS'
}

type FinalInvoices = ReadonlyMap<string, readonly FinalInvoice[]>

/**
 * FINAL invoices by subscription, of those whose time has one of the events and that kept nothing of what they counted. One that was
 * made VOID by hand has billed none of its time, and no other does: it is as if it had been FINAL before every event.
 */
async function loadFinalInvoices(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  events: readonly EventKey[],
): Promise<FinalInvoices> {
  if (subscriptionIds.length === 0) return new Map()
  const [first, last] = [Math.min(...events.map(at)), Math.max(...events.map(at))]
  const { platformId, environment } = uow.tenant
  const ms = (column: string) => sql.raw(`(extract(epoch from ${column}) * 1000)::bigint::text`)
  const { rows } = await uow.tx.execute<{ id: string; start_ms: string; end_ms: string; final_ms: string }>(sql`
    select pricing_plan_subscription_id as id, ${ms('period_start')} as start_ms, ${ms('period_end')} as end_ms,
      ${ms("case status when 'FINAL' then updated_to_final_at else to_timestamp(0) end")} as final_ms
    from invoices
    where platform_id = ${platformId} and environment = ${environment} and holds_period and status in ('FINAL', 'VOID', 'ARCHIVED') and not advance_only
      and not exists (select from closed_usage c
        where c.platform_id = invoices.platform_id and c.environment = invoices.environment and c.invoice_id = invoices.id)
      and pricing_plan_subscription_id = any(${sql.param(subscriptionIds)})
      and period_start <= to_timestamp(${last}::float8 / 1000) and period_end > to_timestamp(${first}::float8 / 1000)`)
  const invoices = rows.map(row => ({
    id: row.id,
    period: interval(instant(row.start_ms), instant(row.end_ms)),
    finalAt: instant(row.final_ms),
  }))
  return grouped(invoices, invoice => invoice.id)
}

const at = (event: EventKey): number => event.timestamp
const instant = (ms: string): Instant => instantOf(Number(ms))
