// What the database knows that decides whether events are billed, for many events in one reading.
import { and, inArray, or, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import { type Instant, instantOf, interval } from '../../../shared/time.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import type { EventKey } from '../../usage/stored-events.ts'
import { type Customer, customers } from '../customers/table.ts'
import { type Meter, meters } from '../meters/table.ts'
import { type BillingDecision, type Coverage, decideBilling, type FinalInvoice } from './decide-billing.ts'

export type EventFacts = {
  /** The customer of a key that an event carries: an id or a reference. */
  customer(key: string): Customer | null
  meter(reference: string): Meter | null
  decide(event: EventKey): BillingDecision
}

/** Reads what decides about these events: four queries, however many they are. */
export async function loadFacts(uow: ReadUow, events: readonly EventKey[]): Promise<EventFacts> {
  const byKey = await loadCustomers(uow, unique(events.map(event => event.customerKey)))
  const byReference = await loadMeters(uow, unique(events.map(event => event.meterReference)))
  const ids = unique([...byKey.values()].map(customer => customer.id))
  const plans = await loadPlans(uow, ids)
  const invoices = await loadFinalInvoices(uow, plans, events)
  const customer = (key: string): Customer | null => byKey.get(key) ?? null
  const meter = (reference: string): Meter | null => byReference.get(reference) ?? null
  return {
    customer,
    meter,
    decide: event => {
      const found = customer(event.customerKey)
      const meterId = meter(event.meterReference)?.id
      return decideBilling({
        timestamp: event.timestamp,
        receivedAt: event.receivedAt,
        customer: found && { active: found.status === 'ACTIVE' },
        coverage: (plans.get(found?.id ?? '') ?? []).map(plan => coverageOf(plan, meterId, invoices)),
      })
    },
  }
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

async function loadCustomers(uow: ReadUow, keys: readonly string[]): Promise<Map<string, Customer>> {
  if (keys.length === 0) return new Map()
  const named = or(inArray(customers.id, [...keys]), inArray(customers.reference, [...keys]))
  const rows = await uow.tx
    .select()
    .from(customers)
    .where(and(inThisTenant(uow, customers), named))
  // A reference never has the form of an id, so no key names two.
  return new Map(
    rows.flatMap(row => [row.id, ...(row.reference === null ? [] : [row.reference])].map(key => [key, row])),
  )
}

async function loadMeters(uow: ReadUow, references: readonly string[]): Promise<Map<string, Meter>> {
  if (references.length === 0) return new Map()
  const named = inArray(meters.reference, [...references])
  const rows = await uow.tx
    .select()
    .from(meters)
    .where(and(inThisTenant(uow, meters), named))
  return new Map(rows.map(row => [row.reference, row]))
}

type Plan = {
  readonly customer_id: string
  readonly subscription_id: string
  readonly start_ms: string
  readonly end_ms: string | null
  /** Meters it prices; false where a price has a period of its own, whose usage a later invoice may still collect. */
  readonly meters: Readonly<Record<string, boolean>>
}

/** The schedules that billing counts, by customer, each cut at its subscription's cancellation. */
async function loadPlans(uow: ReadUow, customerIds: readonly string[]): Promise<Map<string, Plan[]>> {
  if (customerIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Plan>(sql`
    select s.customer_id, s.id as subscription_id,
      (extract(epoch from h.start_at) * 1000)::bigint::text as start_ms,
      (extract(epoch from least(h.end_at, s.cancelled_at)) * 1000)::bigint::text as end_ms,
      coalesce((
        select jsonb_object_agg(priced.meter_id, priced.invoiced_once) from (
          select c.meter_id, h.billing_period is null and bool_and(
            coalesce(nullif(config -> 'billing_period', 'null'), s.billing_period) = s.billing_period
            and coalesce(nullif(config -> 'pricing_period', 'null'), s.billing_period) = s.billing_period) as invoiced_once
          from pricings p
          cross join lateral jsonb_array_elements(p.items) as item
          cross join lateral jsonb_array_elements(item -> 'configs') as config
          cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as item_id
          join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = item_id
          join meter_value_calculations c on c.platform_id = p.platform_id and c.environment = p.environment
            and c.id = i.meter_value_calculation_id
          where p.platform_id = h.platform_id and p.environment = h.environment
            and p.pricing_plan_version_id = h.pricing_plan_version_id
          group by c.meter_id
        ) as priced
      ), '{}') as meters
    from pricing_plan_subscriptions s
    join pricing_plan_schedules h on h.platform_id = s.platform_id and h.environment = s.environment
      and h.pricing_plan_subscription_id = s.id and h.status = 'ACTIVE'
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.customer_id in ${customerIds}
      and s.status in ('ACTIVE', 'CANCELLED')
    order by h.start_at, h.id`)
  return grouped(rows, plan => plan.customer_id)
}

type FinalInvoices = ReadonlyMap<string, readonly FinalInvoice[]>

/** FINAL invoices by subscription, of those whose time has one of the events. */
async function loadFinalInvoices(
  uow: ReadUow,
  plans: ReadonlyMap<string, readonly Plan[]>,
  events: readonly EventKey[],
): Promise<FinalInvoices> {
  const subscriptionIds = unique([...plans.values()].flat().map(plan => plan.subscription_id))
  if (subscriptionIds.length === 0) return new Map()
  const [first, last] = [Math.min(...events.map(at)), Math.max(...events.map(at))]
  const { platformId, environment } = uow.tenant
  const ms = (column: string) => sql.raw(`(extract(epoch from ${column}) * 1000)::bigint::text`)
  const { rows } = await uow.tx.execute<{ id: string; start_ms: string; end_ms: string; final_ms: string }>(sql`
    select pricing_plan_subscription_id as id, ${ms('period_start')} as start_ms, ${ms('period_end')} as end_ms,
      ${ms('updated_to_final_at')} as final_ms
    from invoices
    where platform_id = ${platformId} and environment = ${environment} and status = 'FINAL' and not advance_only
      and pricing_plan_subscription_id in ${subscriptionIds}
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

function coverageOf(plan: Plan, meterId: string | undefined, invoices: FinalInvoices): Coverage {
  const invoicedOnce = meterId === undefined ? undefined : plan.meters[meterId]
  return {
    start: instant(plan.start_ms),
    end: plan.end_ms === null ? null : instant(plan.end_ms),
    pricesMeter: invoicedOnce !== undefined,
    finalInvoices: invoicedOnce === true ? (invoices.get(plan.subscription_id) ?? []) : [],
  }
}
