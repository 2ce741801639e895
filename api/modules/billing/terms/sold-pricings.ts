// Which pricings a schedule sells, and when: those of its version, or of the versions of its rate card in turn, besides them those that are
// its own, and of the ADDONs among them those that it has enabled, while it has (semantics 3.1, 4.3). Pure.

import type { Zone } from '../../../../shared/billing/local-days.ts'
import type { Span } from '../../../../shared/billing/periods.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at } from '../../../../shared/time.ts'
import { type VersionSpan, versionSpans } from '../../catalog/pricing-plans/rate-card.ts'
import { periodText } from '../../catalog/pricing-plans/variants/period-length.ts'
import { itemFor, type Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { enabledSpans } from '../../subscriptions/enabled-pricings/enabled-spans.ts'
import { isOverridden, overridden } from '../../subscriptions/overrides/merge-overrides.ts'
import type { PricingInput, ScheduleInput } from './billing-inputs.ts'

/** A pricing that a schedule sells, and the time in which it does. */
export type SoldPricing = {
  readonly pricing: PricingInput
  readonly during: Span
  /** Whether it takes over from another version, which has charged what is charged once. */
  readonly takesOver: boolean
}

/** The time of a schedule. */
export const spanOf = ({ start_at, end_at }: Pick<ScheduleInput, 'start_at' | 'end_at'>): Span => ({
  start: at(start_at),
  end: end_at === null ? null : at(end_at),
})

/** The versions that price a schedule in turn, and when. What is its own is sold besides. */
export const soldVersions = (schedule: ScheduleInput, zone: Zone): VersionSpan[] =>
  schedule.rate_card
    ? versionSpans(schedule.rate_card, spanOf(schedule), zone)
    : [{ pricing_plan_version_id: schedule.pricing_plan_version_id, span: spanOf(schedule) }]

/**
 * In the order of versions; those of one version by display order, then by name; each with the prices of its overrides, in the variant
 * that its items have for the schedule. Throws INVALID_OPERATION for an item without one, which no schedule that was activated sells.
 */
export function soldPricings(
  all: readonly PricingInput[],
  { schedule, zone, terms }: { readonly schedule: ScheduleInput; readonly zone: Zone; readonly terms: Terms },
): SoldPricing[] {
  const inTurn = soldVersions(schedule, zone).map((each, index) => ({ ...each, takesOver: index > 0 }))
  return [...inTurn, ...besides(schedule)].flatMap(({ pricing_plan_version_id: version, span: during, takesOver }) =>
    all
      .filter(pricing => pricing.pricing_plan_version_id === version)
      .map(pricing => overridden(pricing, schedule.override_pricings))
      .toSorted((a, b) => byOrder(a, b) || byText(a.name, b.name) || byText(a.id, b.id))
      .flatMap(given => {
        if (!given.addon) return [{ pricing: asSold(given, schedule, terms), during, takesOver }]
        const times = enabledSpans(schedule.enabled_pricings ?? [], given.id, during)
        if (times.length === 0) return []
        const pricing = asSold(given, schedule, terms)
        return times.map(time => ({ pricing, during: time, takesOver: takesOver && time.start === during.start }))
      }),
  )
}

/** The version of its own prices, where that stands beside a plan: sold for all of its time. */
function besides(schedule: ScheduleInput) {
  const { own_version_id: own, pricing_plan_version_id: version } = schedule
  if (own === undefined || own === version) return []
  return [{ pricing_plan_version_id: own, span: spanOf(schedule), takesOver: false }]
}

/** The same object where its items have no variants, as nearly all. A TRIAL sells nothing but its own prices (semantics 4.3). */
function asSold(pricing: PricingInput, schedule: ScheduleInput, terms: Terms): PricingInput {
  const sold = inVariants(pricing, terms)
  const isOwn = pricing.pricing_plan_version_id === schedule.own_version_id
  return schedule.only_overrides && !isOwn ? { ...sold, items: overriddenItems(sold, schedule) } : sold
}

/** The items with the prices that a schedule overrides, without those that have none. */
const overriddenItems = (pricing: PricingInput, { override_pricings }: ScheduleInput): PricingInput['items'] =>
  pricing.items.flatMap(item => {
    const configs = item.configs.filter(config => isOverridden(override_pricings, { pricing, item, config }))
    return configs.length === 0 ? [] : [{ ...item, configs }]
  })

function inVariants(pricing: PricingInput, terms: Terms): PricingInput {
  const items = pricing.items.map(item => {
    const sold = itemFor(item, terms)
    if (sold) return sold
    const message = `The pricing ${pricing.name} has no price in ${terms.currency} for a billing period of ${periodText(terms.billingPeriod)}.`
    throw new AppError('INVALID_OPERATION', message, { resourceId: pricing.id, resourceType: 'PRICING' })
  })
  return items.every((item, index) => item === pricing.items[index]) ? pricing : { ...pricing, items }
}

const LAST = Number.MAX_SAFE_INTEGER
/** Those without a display order come last. */
export const byOrder = (a: { display_order?: number | null }, b: { display_order?: number | null }): number =>
  (a.display_order ?? LAST) - (b.display_order ?? LAST)
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
