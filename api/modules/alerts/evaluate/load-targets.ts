// Reads what an evaluation of what is used needs, for many subscriptions at once: no query is one subscription's.

import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Id } from '../../../../shared/ids.ts'
import { instantOf } from '../../../../shared/time.ts'
import { findMany } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { timeOfCustomerIn, timesOfCustomers } from '../../../test-clock/test-clock.ts'
import type { SubscriptionInput } from '../../billing/terms/billing-inputs.ts'
import { loadCalculations } from '../../billing/terms/load/load-catalog.ts'
import { loadIssuedZones } from '../../billing/terms/load/load-issued-zones.ts'
import { featureResource } from '../../catalog/features/feature.ts'
import type { Grant } from '../../catalog/features/schema.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import {
  type AttributionInputs,
  attributionsOf,
  loadAttribution,
} from '../../subscriptions/attribution/load-attribution.ts'
import { loadEntitlements } from '../../subscriptions/entitlements/load-entitlements.ts'
import { schedules } from '../../subscriptions/table.ts'
import { BILLED_CUSTOMER } from '../../subscriptions/variants.ts'
import { alerts } from '../table.ts'
import { activeRules } from './active-rules.ts'
import {
  type EvaluationTarget,
  type LastEvaluation,
  targetsOf,
  type WatchedSubscription,
  type Watching,
  type WatchingRule,
} from './evaluation-target.ts'
import { loadOwnCalculations } from './load-own-calculations.ts'
import { loadPersisted } from './load-persisted-usage.ts'

/** The ACTIVE rules whose feature is measured; one whose calculation was taken away since targets nothing. */
export async function watchingRules(uow: ReadUow): Promise<WatchingRule[]> {
  const rules = await activeRules(uow, 'ENTITLEMENT')
  const features = await findMany(
    uow,
    featureResource,
    rules.map(rule => rule.entitlement?.feature_id ?? ''),
  )
  const calculations = await loadCalculations(uow, features)
  return rules.flatMap((rule): WatchingRule[] => {
    const { entitlement } = rule
    const feature = features.find(({ id }) => id === entitlement?.feature_id)
    const calculation = calculations.find(({ id }) => id === feature?.meter_value_calculation_id)
    return entitlement && calculation ? [{ rule: { ...rule, entitlement }, calculation }] : []
  })
}

export type Page = {
  /** By subscription, what its rules have made no alert of yet. */
  readonly open: ReadonlyMap<string, readonly EvaluationTarget[]>
  /** By customer, what decides whose events are theirs. */
  readonly attribution: ReadonlyMap<string, AttributionInputs>
  readonly last: ReadonlyMap<string, LastEvaluation>
  /** The last subscription of the page; null when no other follows it. */
  readonly next: string | null
}

/** The subscriptions after `after`, in the order of their ids, to which something is granted that the rules target. */
export async function loadPage(
  uow: ReadUow,
  of: { readonly rules: readonly WatchingRule[]; readonly after: string; readonly limit: number },
): Promise<Page> {
  const { rules, limit } = of
  const subscriptions = await loadWatched(uow, of)
  const ids = subscriptions.map(({ id }) => id)
  const timeOf = await timesOfCustomers(
    uow,
    subscriptions.map(({ customer_id }) => customer_id),
  )
  const grantsOf = new Map<string, readonly Grant[]>()
  // One time for all, but where customers live by test clocks.
  for (const [time, own] of groupBy(subscriptions, ({ customer_id }) => timeOf(customer_id))) {
    const granted = await loadEntitlements(uow, { subscriptionIds: own.map(({ id }) => id) }, time)
    for (const { subscriptionId, grants } of granted) grantsOf.set(subscriptionId, grants)
  }
  const persisted = await loadPersisted(uow, ids)
  const targets = subscriptions.flatMap(subscription =>
    targetsOf(subscription, {
      rules,
      grants: grantsOf.get(subscription.id) ?? [],
      persisted,
      now: timeOf(subscription.customer_id),
    }),
  )
  const made = await alertsOf(uow, targets)
  const open = groupBy(
    targets.filter(({ rule, reference }) => !made.has(`${rule.id} ${reference}`)),
    ({ subscription }) => subscription.id,
  )
  const customerIds = [...new Set([...open.values()].flatMap(([target]) => target?.subscription.customer_id ?? []))]
  const attribution = await loadAttribution(uow, { customerIds, with: 'CHILDREN' })
  return {
    open,
    attribution: attributionsOf(attribution, customerIds),
    last: await lastEvaluations(uow, [...open.keys()]),
    next: subscriptions.length < limit ? null : (ids.at(-1) ?? null),
  }
}

type SubscriptionRow = Pick<
  SubscriptionInput,
  'billing_period' | 'billing_time' | 'billing_anchor' | 'inactive_periods'
> & {
  readonly id: Id<'ppsu'>
  readonly customer_id: Id<'ppsu'>
  readonly customer_zone: string | null
  readonly entity_zone: string | null
  readonly platform_zone: string
}

/** The ACTIVE subscriptions after `after` that grant a feature of one of the rules now. */
export async function loadWatched(
  uow: ReadUow,
  of: { readonly rules: readonly Watching[]; readonly after: string; readonly limit: number },
): Promise<WatchedSubscription[]> {
  const { platformId, environment } = uow.tenant
  const now = timeOfCustomerIn(uow, 's')
  const featureIds = [...new Set(of.rules.map(({ rule }) => rule.entitlement.feature_id))]
  const everybody = of.rules.some(({ rule }) => rule.customer_ids.length === 0)
  const named = everybody
    ? sql``
    : sql`and s.customer_id = any(${sql.param(of.rules.flatMap(({ rule }) => rule.customer_ids))})`
  const grants = sql`exists (select from jsonb_array_elements(entitlements) as e where e ->> 'feature_id' in ${featureIds})`
  const { rows } = await uow.tx.execute<SubscriptionRow>(sql`
    with versions as (
      select pricing_plan_version_id as id from pricings
      where platform_id = ${platformId} and environment = ${environment} and entitlements <> '[]' and ${grants}
    )
    select s.id, s.customer_id, s.billing_period, s.billing_time, s.inactive_periods,
      to_char(s.billing_anchor at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as billing_anchor,
      c.timezone as customer_zone, b.timezone as entity_zone, p.timezone as platform_zone
    from pricing_plan_subscriptions s
    join customers c on c.platform_id = s.platform_id and c.environment = s.environment and c.id = ${BILLED_CUSTOMER}
    join billing_entities b on b.platform_id = s.platform_id and b.environment = s.environment and b.id = s.billing_entity_id
    join platforms p on p.platform_id = s.platform_id and p.environment = s.environment
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.status = 'ACTIVE' and s.id > ${of.after} ${named}
      and exists (select from pricing_plan_schedules h
        where h.platform_id = s.platform_id and h.environment = s.environment and h.pricing_plan_subscription_id = s.id
          and h.status = 'ACTIVE' and h.start_at <= ${now} and (h.end_at is null or h.end_at > ${now})
          and (exists (select from schedule_versions v where v.platform_id = h.platform_id and v.environment = h.environment
              and v.pricing_plan_schedule_id = h.id and v.pricing_plan_version_id in (select id from versions)) or (entitlements <> '[]' and ${grants})))
    order by s.id limit ${of.limit}`)
  const terms = await loadTerms(
    uow,
    rows.map(({ id }) => id),
  )
  const zonedOf = ({ customer_zone, entity_zone, platform_zone }: SubscriptionRow) => ({
    customer: { timezone: customer_zone },
    billing_entity: { timezone: entity_zone },
    platform: { timezone: platform_zone },
  })
  const issued = await loadIssuedZones(
    uow,
    rows.map(row => [row.id, zoneOfParties(zonedOf(row))]),
  )
  return rows.map(row => {
    const {
      id,
      customer_id,
      customer_zone: _customer,
      entity_zone: _entity,
      platform_zone: _platform,
      ...subscription
    } = row
    const issued_zones = issued.get(id)
    const schedules = terms.get(id) ?? []
    return { id, customer_id, subscription, schedules, ...zonedOf(row), ...(issued_zones ? { issued_zones } : {}) }
  })
}

/** From when to when the ACTIVE schedules of each hold, in order. */
async function loadTerms(uow: ReadUow, ids: readonly Id<'ppsu'>[]) {
  if (ids.length === 0) return new Map<string, never[]>()
  const {
    pricing_plan_subscription_id,
    pricing_plan_id,
    pricing_plan_version_id,
    start_at,
    end_at,
    pricing_currency,
    status,
    id,
  } = schedules
  const { billing_period, carries_usage: carries } = schedules
  const realign = schedules.realign_invoice_date_to_pricing_plan_schedule_start_at
  const rows = await uow.tx
    .select({
      id,
      pricing_plan_subscription_id,
      pricing_plan_id,
      pricing_plan_version_id,
      own: schedules.own_pricing_plan_version_id,
      start_at,
      end_at,
      billing_period,
      pricing_currency,
      realign,
      carries,
    })
    .from(schedules)
    .where(and(inThisTenant(uow, schedules), anyOf(pricing_plan_subscription_id, [...ids]), eq(status, 'ACTIVE')))
    .orderBy(asc(start_at), asc(id))
  // Only what continues another schedule counts from before its start.
  const calculations = await loadOwnCalculations(
    uow,
    rows.flatMap(row => (row.carries && row.own !== null ? [row.own] : [])),
  )
  const held = rows.map(({ carries: isCarried, own, ...row }) => ({
    ...row,
    ...(own === null ? {} : { own_version_id: own, own_calculation_ids: calculations.get(own) ?? [] }),
    ...(isCarried ? { carries_usage: true as const } : {}),
  }))
  return groupBy(held, row => row.pricing_plan_subscription_id)
}

/** `rule reference` of the alerts that these targets made before. */
async function alertsOf(uow: ReadUow, targets: readonly EvaluationTarget[]): Promise<ReadonlySet<string>> {
  if (targets.length === 0) return new Set()
  const of = [...new Set(targets.map(({ rule }) => rule.id))]
  const by = [...new Set(targets.map(({ reference }) => reference))]
  const rows = await uow.tx
    .select({ rule: alerts.alert_rule_id, reference: alerts.data_trigger_reference })
    .from(alerts)
    .where(
      and(inThisTenant(uow, alerts), inArray(alerts.alert_rule_id, of), inArray(alerts.data_trigger_reference, by)),
    )
  return new Set(rows.map(({ rule, reference }) => `${rule} ${reference}`))
}

async function lastEvaluations(uow: ReadUow, ids: readonly string[]): Promise<ReadonlyMap<string, LastEvaluation>> {
  if (ids.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; fingerprint: string; at_ms: string; positions: string[] }>(sql`
    select pricing_plan_subscription_id as id, fingerprint, positions,
      (extract(epoch from looked_at) * 1000)::bigint::text as at_ms
    from alert_watches
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id in ${[...ids]}`)
  return new Map(
    rows.map(({ id, fingerprint, at_ms, positions }) => [
      id,
      { fingerprint, looked_at: instantOf(Number(at_ms)), positions: positions.map(Number) },
    ]),
  )
}
