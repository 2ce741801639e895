// The part of what a version sells that can be charged on demand at a moment. Pure.
import type { Instant } from '../../../../shared/time.ts'
import { isOptional } from '../../catalog/pricing-plans/checks/optional.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { itemFor, type Terms } from '../../catalog/pricing-plans/variants/variants.ts'
import { isEnabledAt } from '../enabled-pricings/enabled-spans.ts'
import type { EnabledPricing } from '../enabled-pricings/schema.ts'

type ShownPricing = Pick<Pricing, 'id' | 'product_type' | 'pricing_group_id'> & {
  readonly items: readonly PricingItem[]
}

/** A category as a version shows it, as far as it is read here. */
export type ShownCategory = {
  readonly pricings: readonly ShownPricing[]
  readonly pricing_groups: readonly { readonly pricings: readonly ShownPricing[] }[]
}

type At = { readonly enabled: readonly EnabledPricing[]; readonly moment: Instant; readonly terms: Terms }

/**
 * With only on-demand items, in the variant of the schedule, and of ADDONs and of what is in pricing groups that which is enabled then; pricings, groups and
 * categories without any are left out.
 */
export const onDemandCategories = <T extends ShownCategory>(categories: readonly T[], at: At): T[] =>
  categories.flatMap(category => {
    const pricings = onDemandOf(category.pricings, at)
    const pricing_groups = category.pricing_groups.flatMap(group => {
      const own = onDemandOf(group.pricings, at)
      return own.length === 0 ? [] : [{ ...group, pricings: own }]
    })
    return pricings.length + pricing_groups.length === 0 ? [] : [{ ...category, pricings, pricing_groups }]
  })

const onDemandOf = (pricings: readonly ShownPricing[], { enabled, moment, terms }: At): ShownPricing[] =>
  pricings.flatMap(pricing => {
    if (isOptional(pricing) && !isEnabledAt(enabled, pricing.id, moment)) return []
    const sold = pricing.items.flatMap(item => itemFor(item, terms) ?? [])
    const items = sold.filter(({ configs }) => configs.some(config => config.on_demand === true))
    return items.length === 0 ? [] : [{ ...pricing, items }]
  })
