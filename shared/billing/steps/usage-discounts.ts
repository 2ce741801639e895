// Step 2 of semantics 5.4 for coupons of type USAGE: free metered volume, deducted before anything is priced.
import { type Decimal, max, min, ZERO } from '../../decimal.ts'
import type { Volume } from '../../rating/price.ts'

/** What one charge is about to rate. */
export type MeteredCharge = { readonly key: string; readonly meterValueId: string; readonly volume: Volume }
/** Free units of one metered value; money where the value is metered money. */
export type UsageDiscount = { readonly id: string; readonly meterValueId: string; readonly quantity: Decimal }
export type TakenUsage = { readonly discountId: string; readonly key: string; readonly quantity: Decimal }

/**
 * Deducts free usage from the charges in their order (the display order of their items) until it is used up; what is
 * left at the end is lost. A zero or negative volume uses none. The count of events does not change: the events did
 * happen.
 */
export function takeUsageDiscounts(
  charges: readonly MeteredCharge[],
  discounts: readonly UsageDiscount[],
): { readonly charges: readonly MeteredCharge[]; readonly taken: readonly TakenUsage[] } {
  const left = new Map(discounts.map(({ id, quantity }) => [id, quantity]))
  const taken: TakenUsage[] = []
  const after = charges.map(charge => {
    let { quantity } = charge.volume
    for (const { id, meterValueId } of discounts) {
      if (meterValueId !== charge.meterValueId) continue
      const used = min(max(quantity, ZERO), left.get(id) ?? ZERO)
      if (used.lte(ZERO)) continue
      taken.push({ discountId: id, key: charge.key, quantity: used })
      left.set(id, (left.get(id) ?? ZERO).minus(used))
      quantity = quantity.minus(used)
    }
    return { ...charge, volume: { ...charge.volume, quantity } }
  })
  return { charges: after, taken }
}
