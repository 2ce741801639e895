// The coupons and promotion codes that deducted something on an invoice, from its lines. Pure.
import type { InvoiceView } from '../schema.ts'
import type { InvoiceRow } from '../table.ts'

/** Each once, in the order of the lines; lists that would be empty are left out. */
export function couponsOf({ periods }: InvoiceRow['content']): Pick<InvoiceView, 'coupons' | 'promotion_codes'> {
  const used = periods.flatMap(({ groups }) =>
    groups.flatMap(({ lines }) => lines.flatMap(({ coupon_data: coupon }) => coupon ?? [])),
  )
  const each = [...new Map(used.map(coupon => [coupon.coupon_id, coupon])).values()]
  const codes = each.flatMap(({ coupon_id, promotion_code_id, promotion_code: code }) =>
    promotion_code_id && code ? [{ coupon_id, promotion_code_details: { promotion_code_id, code } }] : [],
  )
  return {
    ...(each.length === 0 ? {} : { coupons: each.map(({ coupon_id, coupon_name }) => ({ coupon_id, coupon_name })) }),
    ...(codes.length === 0 ? {} : { promotion_codes: codes }),
  }
}
