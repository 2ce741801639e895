// Rules of pricing that changed since invoices were issued by them. A correction of such an invoice keeps to the rule of then: the
// customer does not pay for a change of rules. Pure.
import type { LineValues } from '../../invoices/lines/table.ts'
import { idOfClause } from '../rating/clauses-of.ts'
import { isOnceForThings } from '../rating/coupon-clauses.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'

/** Absent members are the rules of now. */
export type PastRules = {
  /** A coupon on some things deducted its amount, and compared its condition, for each period on the invoice. */
  readonly couponsEachPeriod?: true
}

type Line = Pick<LineValues, 'kind' | 'source' | 'service_start' | 'service_end'>

/**
 * The rules by which an invoice with these lines was priced: now a coupon makes its lines for one time, that of all periods
 * together.
 */
export function pastRulesOf(
  lines: readonly Line[],
  schedules: readonly Pick<ScheduleInput, 'id' | 'coupons'>[],
): PastRules | null {
  const isForEach = schedules.some(({ id, coupons = [] }) =>
    coupons.some(coupon => isOnceForThings(coupon) && timesOf(lines, id, coupon.coupon_id).size > 1),
  )
  return isForEach ? { couponsEachPeriod: true } : null
}

const timesOf = (lines: readonly Line[], scheduleId: string, couponId: string): ReadonlySet<string> =>
  new Set(
    lines.flatMap(({ kind, source, service_start, service_end }) => {
      const clause = String(source['clause'])
      const isOfCoupon =
        clause.startsWith(idOfClause(scheduleId, 'coupon_discount.')) && clause.endsWith(`.${couponId}`)
      return kind === 'DISCOUNT' && isOfCoupon ? [`${service_start} ${service_end}`] : []
    }),
  )
