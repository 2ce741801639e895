// Rules of pricing that changed since invoices were issued by them. A correction of such an invoice keeps to the rule of then: the
// customer does not pay for a change of rules. Pure.
import type { LineValues } from '../../invoices/lines/table.ts'
import { carriedTotals, type TotalRules } from '../rating/carried-totals.ts'
import { type CouponRules, isOnceForThings } from '../rating/coupon-clauses.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { idOfClause } from '../terms/clauses-of-prices.ts'

export type PastRules = CouponRules & TotalRules

type Line = Pick<LineValues, 'kind' | 'source' | 'service_start' | 'service_end'>

/**
 * The rules by which an invoice with these lines was priced: now a coupon makes its lines for one time, that of all periods
 * together, and under the name of one schedule. So does an amount on the total that went along.
 */
export function pastRulesOf(
  lines: readonly Line[],
  schedules: readonly Pick<ScheduleInput, 'id' | 'coupons' | 'start_at' | 'end_at' | 'discount'>[],
): PastRules | null {
  const eachPeriod = schedules.some(({ id, coupons = [] }) =>
    coupons.some(coupon => isOnceForThings(coupon) && timesOf(lines, id, coupon.coupon_id).size > 1),
  )
  const named = schedules.flatMap(({ id, coupons = [] }) =>
    coupons.flatMap(({ coupon_id }) => (timesOf(lines, id, coupon_id).size > 0 ? coupon_id : [])),
  )
  const eachSchedule = new Set(named).size < named.length
  const clauses = new Set(lines.flatMap(({ kind, source }) => (kind === 'DISCOUNT' ? String(source['clause']) : [])))
  const totals = carriedTotals(schedules).some(run => run.filter(({ id }) => clauses.has(id)).length > 1)
  if (!eachPeriod && !eachSchedule && !totals) return null
  return {
    ...(eachPeriod ? { couponsEachPeriod: true } : {}),
    ...(eachSchedule ? { couponsEachSchedule: true } : {}),
    ...(totals ? { totalsEachSchedule: true } : {}),
  }
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
