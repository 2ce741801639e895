// The part of what a version sells that can be charged on demand at a moment. Pure.
import type { Instant } from '../../../../shared/time.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import { isEnabledAt } from '../enabled-pricings/enabled-spans.ts'
import type { EnabledPricing } from '../enabled-pricings/schema.ts'

/** A category as a version shows it, as far as it is read here. */
export type ShownCategory = {
  readonly pricings: readonly {
    readonly id: string
    readonly product_type: string
    readonly items: readonly PricingItem[]
  }[]
}

/** With only on-demand items, and of ADDONs those that are enabled then; pricings and categories without any are left out. */
export const onDemandCategories = <T extends ShownCategory>(
  categories: readonly T[],
  { enabled, moment }: { readonly enabled: readonly EnabledPricing[]; readonly moment: Instant },
): T[] =>
  categories.flatMap(category => {
    const pricings = category.pricings.flatMap(pricing => {
      if (pricing.product_type === 'ADDON' && !isEnabledAt(enabled, pricing.id, moment)) return []
      const items = pricing.items.filter(({ configs }) => configs.some(config => config.on_demand === true))
      return items.length === 0 ? [] : [{ ...pricing, items }]
    })
    return pricings.length === 0 ? [] : [{ ...category, pricings }]
  })
