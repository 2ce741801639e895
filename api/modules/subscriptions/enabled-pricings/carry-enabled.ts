// What a schedule has enabled, for another version of its plan. Pure.
import { groupBy } from '../../../../shared/group-by.ts'
import { isOptional } from '../../catalog/pricing-plans/checks/optional.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import type { EnabledPricing } from './schema.ts'

/** A pricing of a version, as far as it tells which pricing of another version it is. */
export type Sold = Pick<Pricing, 'id' | 'name' | 'pricing_plan_version_id' | 'product_type' | 'pricing_group_id'> & {
  readonly items: readonly { readonly product_item_ids: readonly string[] }[]
}

/**
 * The same entries for the pricings that sell the same items in the other version, or in each version of a rate card: of several the
 * one with the same name. What has none, or is always sold there, is left out.
 */
export function carriedEnabled(
  entries: readonly EnabledPricing[],
  { old, now }: { readonly old: readonly Sold[]; readonly now: readonly Sold[] },
): EnabledPricing[] {
  const itemsOf = ({ items }: Sold): string[] => items.flatMap(({ product_item_ids: ids }) => ids)
  return entries.flatMap(entry => {
    const before = old.find(({ id }) => id === entry.pricing_id)
    if (!before) return []
    const alike = now.filter(each => isOptional(each) && itemsOf(each).some(id => itemsOf(before).includes(id)))
    return [...groupBy(alike, each => each.pricing_plan_version_id).values()].flatMap(own => {
      const named = own.filter(({ name }) => name === before.name)
      const [only, ...others] = named.length > 0 ? named : own
      return only && others.length === 0 ? [{ ...entry, pricing_id: only.id }] : []
    })
  })
}
