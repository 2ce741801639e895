// What discounts on prices left of charges ahead that coupons lowered. A minimum counts it on later invoices too, as it was: what a
// coupon takes that is divided over usage does not follow from prices (semantics 5.4). Pure.
import { type Decimal, decimal } from '../../../../shared/decimal.ts'

/** A charge ahead that a coupon lowered and a minimum covers. */
export type CouponedCharge = {
  readonly key: string
  /** What was charged, and what was left of it; with tax where the prices include it. */
  readonly counted: readonly [of: string, left: string]
}

const PREFIX = 'couponed '

/** It as a text among the keys of charges, which tell what other invoices bill. */
export const textOfCouponed = ({ key, counted }: CouponedCharge): string => PREFIX + JSON.stringify([key, ...counted])

/** Whether it is the text of such a charge, rather than the key of a charge. */
export const isCouponed = (text: string): boolean => text.startsWith(PREFIX)

/** Those among what other invoices bill, by their keys. */
export const couponedIn = (
  billed: ReadonlySet<string>,
): ReadonlyMap<string, { readonly of: Decimal; readonly left: Decimal }> =>
  new Map(
    [...billed].filter(isCouponed).map(text => {
      const [key, of, left] = JSON.parse(text.slice(PREFIX.length)) as [string, string, string]
      return [key, { of: decimal(of), left: decimal(left) }] as const
    }),
  )
