// What a customer is granted of a feature, and what it has used of that in the billing period that runs now: as the invoice will count it,
// of everything that was accepted up to a moment which the answer names.
import { type Database, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, max, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { getOne } from '../../../resource/store.ts'
import { loadCalculations } from '../../billing/terms/load/load-catalog.ts'
import { usageParts } from '../../billing/terms/usage-parts.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { featureResource } from '../../catalog/features/feature.ts'
import { sumGrants } from '../../catalog/features/merge-entitlements.ts'
import type { Grant } from '../../catalog/features/schema.ts'
import type { Feature } from '../../catalog/features/table.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type AttributionInputs, loadAttribution } from '../../subscriptions/attribution/load-attribution.ts'
import { loadEntitlements } from '../../subscriptions/entitlements/load-entitlements.ts'
import { type TargetOf, targetsOf, usedOf, type Watching } from '../evaluate/evaluation-target.ts'
import { loadPersisted } from '../evaluate/load-persisted-usage.ts'
import { loadWatched } from '../evaluate/load-targets.ts'

export type UseDeps = { readonly database: Database; readonly usage: UsageReader }

type Value = { readonly number: string | null; readonly amount: { quantity: string; currency: string } | null }
type Use = {
  readonly granted: Pick<Grant, 'number' | 'switch' | 'amount' | 'enums' | 'strings'>
  /** Null where nothing measures the feature. */
  readonly used: Value | null
  readonly left: Value | null
  readonly resets_at: string | null
}
export type EntitlementUse = {
  readonly customer_id: string
  readonly feature_id: string
  readonly feature_reference: string
  /** Everything accepted before is counted; of a feature that nothing measures, when it was read. */
  readonly asOf: Instant
  readonly entitlements: readonly Use[]
  readonly pricing_plan_subscription_entitlements: readonly (Use & { readonly pricing_plan_subscription_id: string })[]
}

type Loaded = {
  readonly customerId: string
  readonly feature: Feature
  readonly grants: readonly { readonly subscriptionId: string; readonly grants: readonly Grant[] }[]
  readonly targets: readonly TargetOf<Watching>[]
  readonly attribution: AttributionInputs
}

/** Throws RESOURCE_NOT_FOUND for a customer or a feature that is not there, SERVICE_UNAVAILABLE when usage cannot be read. */
export async function loadUse(
  { database, usage }: UseDeps,
  tenant: Tenant,
  of: { readonly customer: string; readonly feature: string },
): Promise<EntitlementUse> {
  const loaded = await readTenant(database, tenant, uow => load(uow, of))
  const { customerId, feature, grants, targets, attribution } = loaded
  // Known before usage is read, so that everything up to there is in it.
  const asOf = targets.length === 0 ? database.clock.now() : await usage.upToDateUntil(database.clock)
  const measured = await Promise.all(
    targets.map(async target => {
      const { subscription, calculation, interval } = target
      const scope = { subscriptionId: subscription.id, meterReference: calculation.meter_reference, interval }
      const key = `${calculation.id} ${interval.start} ${interval.end}`
      const need = { key, calculation, condition: null, interval, splitBy: null }
      const figures = usedOf(target, await usage.read(tenant, usageParts(attribution, scope), need))
      const currency = target.granted.amount?.currency ?? null
      return { target, used: figures.find(figure => figure.currency === currency)?.number ?? ZERO }
    }),
  )
  const useOf = (subscriptionId: string, granted: Grant): Use => {
    const found = measured.find(
      ({ target }) =>
        target.subscription.id === subscriptionId && target.granted.amount?.currency === granted.amount?.currency,
    )
    return found ? metered(granted, found.used, found.target.period.end) : unmetered(granted)
  }
  const each = grants.flatMap(({ subscriptionId, grants: own }) =>
    own.map(granted => ({ pricing_plan_subscription_id: subscriptionId, ...useOf(subscriptionId, granted) })),
  )
  return {
    customer_id: customerId,
    feature_id: feature.id,
    feature_reference: feature.reference,
    asOf,
    entitlements: sumGrants(grants.flatMap(({ grants: own }) => own)).map(granted => together(granted, each)),
    pricing_plan_subscription_entitlements: each,
  }
}

async function load(uow: ReadUow, of: { readonly customer: string; readonly feature: string }): Promise<Loaded> {
  const customer = await getOne(uow, customerResource, of.customer)
  const feature = await getOne(uow, featureResource, of.feature)
  const found = await loadEntitlements(uow, { customerIds: [customer.id] }, uow.now)
  const grants = found.flatMap(({ subscriptionId, grants: all }) => {
    const own = all.filter(({ feature_id }) => feature_id === feature.id)
    return own.length === 0 ? [] : [{ subscriptionId, grants: own }]
  })
  const [calculation] = grants.length === 0 ? [] : await loadCalculations(uow, [feature])
  const none = {
    customerId: customer.id,
    feature,
    grants,
    targets: [],
    attribution: { customers: [], subscriptions: [] },
  }
  if (!calculation) return none
  const rules: Watching[] = [
    // Every grant of the feature, whatever its currency.
    {
      rule: { customer_ids: [customer.id], entitlement: { feature_id: feature.id, threshold: { percentage: '100' } } },
      calculation,
    },
  ]
  const subscriptions = await loadWatched(uow, { rules, after: '', limit: SUBSCRIPTIONS_MAX })
  const persisted = await loadPersisted(
    uow,
    subscriptions.map(({ id }) => id),
  )
  const grantsOf = new Map(grants.map(each => [each.subscriptionId, each.grants]))
  return {
    ...none,
    targets: subscriptions.flatMap(subscription =>
      targetsOf(subscription, { rules, grants: grantsOf.get(subscription.id) ?? [], persisted, now: uow.now }),
    ),
    attribution: await loadAttribution(uow, { customerIds: [customer.id], with: 'CHILDREN' }),
  }
}

const SUBSCRIPTIONS_MAX = 1_000

const shown = ({ number, switch: isOn, amount, enums, strings }: Grant): Use['granted'] => ({
  number,
  switch: isOn,
  amount,
  enums,
  strings,
})
const unmetered = (granted: Grant): Use => ({ granted: shown(granted), used: null, left: null, resets_at: null })

function metered(granted: Grant, used: Decimal, resetsAt: Instant): Use {
  const whole = decimal(granted.amount?.quantity ?? granted.number ?? '0')
  const value = (quantity: Decimal): Value =>
    granted.amount
      ? { number: null, amount: { quantity: plain(quantity), currency: granted.amount.currency } }
      : { number: plain(quantity), amount: null }
  return {
    granted: shown(granted),
    used: value(used),
    left: value(max(whole.minus(used), ZERO)),
    resets_at: formatInstant(resetsAt),
  }
}

/** Of all subscriptions: what is left of one is not left of another. It resets when the first of them does. */
function together(granted: Grant, each: readonly Use[]): Use {
  const own = each.filter(use => use.granted.amount?.currency === granted.amount?.currency)
  const total = (name: 'used' | 'left'): Value | null => {
    const values = own.flatMap(use => use[name] ?? [])
    if (values.length === 0) return null
    const quantity = plain(sum(values.map(value => decimal(value.amount?.quantity ?? value.number ?? '0'))))
    return granted.amount
      ? { number: null, amount: { quantity, currency: granted.amount.currency } }
      : { number: quantity, amount: null }
  }
  const [first] = own.flatMap(({ resets_at }) => resets_at ?? []).toSorted()
  return { granted: shown(granted), used: total('used'), left: total('left'), resets_at: first ?? null }
}
