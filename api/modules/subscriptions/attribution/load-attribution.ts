// What decides which subscription events belong to, read for some customers at once (semantics 1.3).
import { sql } from 'drizzle-orm'
import type {
  AttributedCustomer,
  Candidate,
  CustomerTerms,
  PlanVersionPeriod,
} from '../../../../shared/attribution/attribute.ts'
import { type Directory, GENERATIONS_MAX } from '../../../../shared/attribution/replicate.ts'
import { selectorOf } from '../../../../shared/attribution/selector.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { type Instant, instantOf, parseInstant } from '../../../../shared/time.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'
import type { AttributionTerms } from '../../parties/customers/table.ts'
import { loadPricedPeriods, type PricedSchedule } from '../enabled-pricings/priced-periods.ts'
import type { EnabledPricing } from '../enabled-pricings/schema.ts'
import { pausesIn } from '../ending/inactive-periods.ts'
import type { Subscription } from '../table.ts'

/** A customer as events name it. */
export type AttributionCustomer = {
  readonly id: string
  readonly reference: string | null
  readonly processing_only: boolean
  /** Whether events of its own are never billed, while those of its children are; absent for any other. */
  readonly non_processing?: true
  readonly terms: AttributionTerms[] | null
}
export type AttributionSubscription = {
  readonly id: string
  readonly reference: string | null
  readonly customer_id: string
  readonly replicates: boolean
  readonly country: string | null
  readonly held: readonly {
    readonly start_ms: number
    readonly end_ms: number | null
    readonly version_id: string
    /** The version of what the schedule sells besides; absent where it sells nothing besides. */
    readonly own_version_id?: string
    readonly plan_reference: string
    readonly meters: readonly string[]
    /** The pricings that are sold, where the version has others; absent: all of it. */
    readonly pricing_ids?: readonly string[]
  }[]
}
/** Plain values in a fixed order, so that they can be hashed and compared. */
export type AttributionInputs = {
  readonly customers: readonly AttributionCustomer[]
  readonly subscriptions: readonly AttributionSubscription[]
}

/**
 * What decides about the events of these customers: with PARENTS where they go on to, with CHILDREN whose events come to
 * them. `previewing` is a DRAFT subscription that counts as if it were activated.
 */
export async function loadAttribution(
  uow: ReadUow,
  of: { readonly customerIds: readonly string[]; readonly with: 'PARENTS' | 'CHILDREN'; readonly previewing?: string },
): Promise<AttributionInputs> {
  if (of.customerIds.length === 0) return { customers: [], subscriptions: [] }
  const customers = await loadRelatedCustomers(uow, of.customerIds, of.with)
  const ids = customers.map(customer => customer.id)
  const subscriptions = ids.length === 0 ? [] : await loadSubscriptions(uow, ids, of.previewing ?? '')
  return { customers, subscriptions }
}

/** These customers and, with PARENTS, all that their events go on to, or with CHILDREN all whose events come to them. */
export async function loadRelatedCustomers(
  uow: ReadUow,
  ids: readonly string[],
  related: 'PARENTS' | 'CHILDREN',
): Promise<AttributionCustomer[]> {
  const { platformId, environment } = uow.tenant
  // A child is found by whatever has ever been in its terms; which of them held at an event's time is decided later.
  const step =
    related === 'PARENTS'
      ? sql`
        select parent.id, parent.attribution_terms, known.depth + 1
        from known join customers parent on parent.platform_id = ${platformId} and parent.environment = ${environment} and parent.id in (
          select jsonb_array_elements_text(term -> 'parent_customer_ids') from jsonb_array_elements(known.terms) as term)`
      : sql`
        select child.customer_id, null::jsonb, known.depth + 1
        from known join customer_parents child on child.platform_id = ${platformId} and child.environment = ${environment}
          and child.parent_id = known.id`
  const { rows } = await uow.tx.execute<
    Omit<AttributionCustomer, 'non_processing'> & { readonly is_alone: boolean }
  >(sql`
    with recursive known (id, terms, depth) as (
      select id, ${related === 'PARENTS' ? sql`attribution_terms` : sql`null::jsonb`}, 0 from customers
      where platform_id = ${platformId} and environment = ${environment} and id = any(${sql.param(ids)})
      union ${step} and known.depth < ${GENERATIONS_MAX}
    )
    select c.id, c.reference, 'PROCESSING_ONLY' = any (c.roles) as processing_only, c.attribution_terms as terms,
      'NON_PROCESSING' = any (c.roles) as is_alone
    from customers c
    where c.platform_id = ${platformId} and c.environment = ${environment} and c.id = any (array(select id from known))
    order by c.id`)
  return rows.map(({ is_alone, ...customer }) => ({ ...customer, ...(is_alone ? { non_processing: true } : {}) }))
}

type HeldRow = Omit<AttributionSubscription, 'held'> & {
  readonly inactive_periods: Subscription['inactive_periods']
  readonly start_ms: string
  readonly end_ms: string | null
  readonly version_id: string
  readonly own_version_id: string | null
  readonly plan_reference: string
  readonly meters: string[]
  /** The plan, if it is a rate card. */
  readonly rate_card_id: string | null
  readonly enabled_pricings: readonly EnabledPricing[]
  readonly has_addons: boolean
}

async function loadSubscriptions(
  uow: ReadUow,
  customerIds: readonly string[],
  previewing: string,
): Promise<AttributionSubscription[]> {
  const { platformId, environment } = uow.tenant
  // One that is ARCHIVED since still has what it billed. What a version sells is looked up once for all who are on it. Schedules are
  // found one subscription at a time (`offset 0`): a plan that is kept since there were few of them would read all that there are, and a list
  // of ids would be sorted again for each subscription.
  const { rows } = await uow.tx.execute<HeldRow>(sql`
    with own as materialized (
      select * from pricing_plan_subscriptions
      where platform_id = ${platformId} and environment = ${environment} and customer_id = any(${sql.param(customerIds)})
    ), held as materialized (
    select s.id, s.reference, s.customer_id, s.replicate_meter_data_ingest_to_parent as replicates,
      case when s.activated_at is null then e.registered_address ->> 'country' else s.billing_entity_country end as country,
      (extract(epoch from h.start_at) * 1000)::bigint::text as start_ms,
      (extract(epoch from least(h.end_at, s.cancelled_at)) * 1000)::bigint::text as end_ms,
      s.inactive_periods, h.pricing_plan_version_id as version_id,
      nullif(h.own_pricing_plan_version_id, h.pricing_plan_version_id) as own_version_id,
      case when p.unlisted then '' else p.reference end as plan_reference,
      case when p.variant = 'RATE_CARD' then p.id end as rate_card_id, h.enabled_pricings,
      h.start_at, h.id as schedule_id
    from own s
    join billing_entities e on e.platform_id = s.platform_id and e.environment = s.environment and e.id = s.billing_entity_id
    cross join lateral (
      select * from pricing_plan_schedules
      where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = s.id offset 0) h
    join pricing_plans p on p.platform_id = h.platform_id and p.environment = h.environment and p.id = h.pricing_plan_id
    where (s.id = ${previewing} or (s.activated_at is not null and s.status <> 'VOID' and h.status = 'ACTIVE'))
    ), sold as materialized (
      select v.version_id,
        exists (select from pricings addon where addon.platform_id = ${platformId} and addon.environment = ${environment}
          and addon.pricing_plan_version_id = v.version_id and ${isOptionalIn('addon')}) as has_addons,
        array(select m.reference from priced_meters priced
          join meters m on m.platform_id = priced.platform_id and m.environment = priced.environment and m.id = priced.meter_id
          where priced.platform_id = ${platformId} and priced.environment = ${environment}
            and priced.pricing_plan_version_id = v.version_id
          order by m.reference) as meters
      from (select distinct version_id from held) v
    )
    select held.*, sold.has_addons, sold.meters from held join sold using (version_id)
    order by held.id, held.start_at, held.schedule_id`)
  const found = new Map<string, AttributionSubscription & { held: AttributionSubscription['held'][number][] }>()
  const pricesOf = await loadPricedPeriods(uow, rows.flatMap(variedOf))
  for (const row of rows) {
    const { inactive_periods, version_id, plan_reference, meters } = row
    const { id, reference, customer_id, replicates, country } = row
    const subscription = found.get(id) ?? { id, reference, customer_id, replicates, country, held: [] }
    found.set(id, subscription)
    const time = timeOf(row)
    // Cancelled before it started, it never held.
    if (time.end_ms !== null && time.end_ms <= time.start_ms) continue
    const varied = variedOf(row)
    const sold =
      varied.length > 0
        ? varied.flatMap(pricesOf)
        : [{ start_ms: time.start_ms, end_ms: time.end_ms, version_id, meters }]
    for (const { start_ms, end_ms, version_id: version, ...prices } of sold)
      for (const part of outside({ start_ms, end_ms }, pausesIn(inactive_periods)))
        subscription.held.push({
          start_ms: part.start_ms,
          end_ms: part.end_ms,
          version_id: version,
          plan_reference,
          ...prices,
        })
  }
  return [...found.values()]
}

const timeOf = ({ start_ms, end_ms }: HeldRow): HeldTime => ({
  start_ms: Number(start_ms),
  end_ms: end_ms === null ? null : Number(end_ms),
})

/** What has other prices at other times, or of two versions: a rate card, a version with ADDONs, and a schedule with its own prices. */
const variedOf = (row: HeldRow): PricedSchedule[] =>
  row.rate_card_id === null && !row.has_addons && row.own_version_id === null
    ? []
    : [
        {
          subscriptionId: row.id,
          cardId: row.rate_card_id,
          versionId: row.version_id,
          ownVersionId: row.own_version_id,
          enabled: row.enabled_pricings,
          ...timeOf(row),
        },
      ]

type HeldTime = { readonly start_ms: number; readonly end_ms: number | null }

/** What of a time lies outside the pauses, which are in the order of time: a paused subscription takes no events. */
function outside(time: HeldTime, pauses: readonly { readonly start: number; readonly end: number }[]): HeldTime[] {
  const parts: HeldTime[] = []
  let start = time.start_ms
  for (const pause of pauses) {
    if (time.end_ms !== null && pause.start >= time.end_ms) break
    if (pause.end <= start) continue
    if (pause.start > start) parts.push({ start_ms: start, end_ms: pause.start })
    start = pause.end
  }
  return time.end_ms !== null && start >= time.end_ms ? parts : [...parts, { start_ms: start, end_ms: time.end_ms }]
}

/** Of what was read for many customers at once what concerns each: it and those whose usage may go on to it. */
export function attributionsOf(
  all: AttributionInputs,
  customerIds: readonly string[],
): ReadonlyMap<string, AttributionInputs> {
  const childrenOf = new Map<string, string[]>()
  for (const { id, terms } of all.customers)
    for (const parent of new Set(terms?.flatMap(term => term.parent_customer_ids)))
      childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), id])
  const places = new Map(all.customers.map(({ id }, place) => [id, place]))
  const held = groupBy(
    all.subscriptions.map((subscription, place) => ({ subscription, place })),
    ({ subscription }) => subscription.customer_id,
  )
  return new Map(
    [...new Set(customerIds)].map(customerId => {
      const known = withChildren(customerId, childrenOf)
      const own = [...known].flatMap(id => places.get(id) ?? []).sort((a, b) => a - b)
      const subscriptions = [...known].flatMap(id => held.get(id) ?? []).sort((a, b) => a.place - b.place)
      return [
        customerId,
        {
          customers: own.flatMap(place => all.customers[place] ?? []),
          subscriptions: subscriptions.map(({ subscription }) => subscription),
        },
      ]
    }),
  )
}

/** A customer, its children, theirs and so on. */
function withChildren(customerId: string, childrenOf: ReadonlyMap<string, readonly string[]>): Set<string> {
  const known = new Set([customerId])
  let last = [customerId]
  for (let generation = 0; generation < GENERATIONS_MAX && last.length > 0; generation += 1) {
    last = [...new Set(last.flatMap(id => childrenOf.get(id) ?? []))].filter(id => !known.has(id))
    for (const id of last) known.add(id)
  }
  return known
}

const ALWAYS: CustomerTerms = { from: instantOf(0), selector: null, parentIds: [] }

/** The inputs as attribution takes them. */
export function directoryOf({ customers, subscriptions }: AttributionInputs): Directory {
  const held = (customerId: string): AttributionSubscription[] =>
    subscriptions.filter(subscription => subscription.customer_id === customerId)
  return new Map(
    customers.map((customer): [string, AttributedCustomer] => [
      customer.id,
      {
        id: customer.id,
        processingOnly: customer.processing_only,
        ...(customer.non_processing ? { nonProcessing: true } : {}),
        terms: customer.terms === null ? [ALWAYS] : customer.terms.map(termsOf),
        subscriptions: held(customer.id).map(candidateOf),
      },
    ]),
  )
}

const termsOf = ({ from, selector, parent_customer_ids }: AttributionTerms): CustomerTerms => ({
  from: instantFrom(from),
  selector: selector === null ? null : selectorOf(selector),
  parentIds: parent_customer_ids,
})

function instantFrom(text: string): Instant {
  const at = parseInstant(text)
  if (at === null) throw new Error(`not a time: ${text}`)
  return at
}

const candidateOf = ({ id, reference, country, replicates, held }: AttributionSubscription): Candidate => ({
  id,
  reference,
  billingEntityCountry: country,
  replicatesToParent: replicates,
  held: held.map(
    (part): PlanVersionPeriod => ({
      start: instantOf(part.start_ms),
      end: part.end_ms === null ? null : instantOf(part.end_ms),
      versionId: part.version_id,
      ...(part.own_version_id === undefined ? {} : { ownVersionId: part.own_version_id }),
      planReference: part.plan_reference,
      meters: new Set(part.meters),
      ...(part.pricing_ids ? { pricingIds: new Set(part.pricing_ids) } : {}),
    }),
  ),
})
