// The coupons of schedules as clauses of an invoice. A coupon applies to whole invoices and is never prorated
// (semantics 2, 4.4). Pure.
import { addPeriodAt } from '../../../../shared/billing/periods.ts'
import type { CLAUSE_LEVELS, ClauseTarget, Discount } from '../../../../shared/billing/steps/clauses.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { at, type Instant, type Interval } from '../../../../shared/time.ts'
import { startOfCoupon, timeOfCoupon } from '../../subscriptions/coupons/coupon-lists.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { hasBilledOf, mayBeOf } from '../charges/invoices-of-charges.ts'
import type { BillingInputs, ScheduleInput } from '../terms/billing-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { billingZoneOf, type InvoiceWindow, invoiceWindows, periodOf, wholePeriodAt } from '../terms/windows.ts'
import { moneyOf } from './clauses-of.ts'
import type { ExchangeOf } from './exchange.ts'
import { isOfNoSeats, reachesMinimum } from './no-seats.ts'

/** One invoice of the subscription, with the keys of what others charge ahead, and whether it charges something ahead itself. */
export type OfInvoice = {
  readonly terms: readonly PriceTerm[]
  readonly window: InvoiceWindow
  readonly billed: ReadonlySet<string>
  readonly isInAdvance: boolean
}

/** A coupon that applies to the invoice, with its schedule. */
export type ApplicableCoupon = { readonly schedule: ScheduleInput; readonly coupon: AppliedCoupon }

/**
 * The coupons that apply to this invoice: ONE_TIME to the first since it was redeemed, PERIOD while it lasts, FOREVER
 * to all.
 */
export const applicableCoupons = (inputs: BillingInputs, of: OfInvoice): ApplicableCoupon[] =>
  inputs.schedules.flatMap(schedule =>
    (schedule.coupons ?? [])
      .filter(coupon => counts(inputs, { schedule, coupon }, of))
      .map(coupon => ({ schedule, coupon })),
  )

/** The time that an invoice is for: what it charges ahead, otherwise what it collects. */
const paidTime = (window: InvoiceWindow, isInAdvance: boolean): Interval =>
  isInAdvance && window.advance ? window.advance : periodOf(window)

/** Whether the invoice charges something in advance, which a price of no seats does not. */
export const chargesInAdvance = (charges: readonly Charge[]): boolean =>
  charges.some(charge => charge.inAdvance && !isOfNoSeats(charge))

function counts(inputs: BillingInputs, { schedule, coupon }: ApplicableCoupon, of: OfInvoice): boolean {
  const { type, period } = coupon.duration
  const { start, end } = timeOfCoupon(at(startOfCoupon(coupon, schedule.start_at)), period ?? null, {
    zone: billingZoneOf(inputs),
    scheduleStarts: inputs.schedules.map(({ start_at }) => start_at),
    periodStart: time => wholePeriodAt(inputs, time)?.covered.start ?? null,
  })
  if (type === 'ONE_TIME') return isFirst(inputs, of, { schedule, coupon }, start)
  // A coupon does not apply to an invoice whose cutoff is before it was redeemed.
  if (of.window.cutoffAt < start) return false
  return type === 'FOREVER' || end === null || paidTime(of.window, of.isInAdvance).start < end
}

/** A coupon of an invoice, and whether it was on it by the rule before, when each for a period lasted to its time of the day, or now, not both. */
export type CouponOfInvoice = AppliedCoupon & { readonly endMoved: boolean }

/** The coupons of the schedules of an invoice. */
export function couponsOfInvoice(
  inputs: BillingInputs,
  { terms, window, billed }: Pick<OfInvoice, 'terms' | 'window' | 'billed'>,
): CouponOfInvoice[] {
  const isInAdvance = chargesInAdvance(chargesOf(terms, window, billed))
  return inputs.schedules.flatMap(schedule =>
    (schedule.coupons ?? []).map(coupon => {
      const { type, period } = coupon.duration
      if (type !== 'PERIOD' || !period) return { ...coupon, endMoved: false }
      const from = at(startOfCoupon(coupon, schedule.start_at))
      const end = addPeriodAt(from, period, billingZoneOf(inputs))
      const counted = window.cutoffAt >= from && paidTime(window, isInAdvance).start < end
      return {
        ...coupon,
        endMoved: counted !== counts(inputs, { schedule, coupon }, { terms, window, billed, isInAdvance }),
      }
    }),
  )
}

/** What says that coupons of two schedules are one redemption, which a later schedule took along. */
export const redemptionOf = (coupon: AppliedCoupon, { start_at }: Pick<ScheduleInput, 'start_at'>): string =>
  `${coupon.coupon_id} ${startOfCoupon(coupon, start_at)}`

/** The ids of the schedules that have a coupon by the same redemption. */
export function schedulesWith(
  inputs: Pick<BillingInputs, 'schedules'>,
  { schedule, coupon }: ApplicableCoupon,
): ReadonlySet<string> {
  const redemption = redemptionOf(coupon, schedule)
  return new Set(
    inputs.schedules.flatMap(each =>
      (each.coupons ?? []).some(own => redemptionOf(own, each) === redemption) ? each.id : [],
    ),
  )
}

/**
 * Whether this invoice is the first since the redemption that charges anything of a schedule with the coupon. What a change of plan takes
 * along is the same redemption. Looks at no later invoice: a schedule that charges nothing, such as a trial, has none to be found.
 */
function isFirst(
  inputs: BillingInputs,
  { terms, window: { cutoffAt }, billed: elsewhere }: OfInvoice,
  { schedule, coupon }: ApplicableCoupon,
  from: Instant,
): boolean {
  const having = schedulesWith(inputs, { schedule, coupon })
  const isOf = (charge: Charge): boolean => having.has(charge.schedule.id)
  // What earlier invoices charge ahead, each once. One that was closed before a schedule was added has charged nothing of it.
  const ahead = new Set<string>()
  for (const window of invoiceWindows(inputs)) {
    if (window.cutoffAt > cutoffAt) return false
    const isOwn = window.cutoffAt === cutoffAt
    const isBilled = ({ key, service: { start } }: Charge): boolean =>
      elsewhere.has(key) && mayBeOf(elsewhere, { key, start }, window.cutoffAt)
    const charges = chargesOf(terms, window, new Set(isOwn ? elsewhere : ahead)).filter(charge =>
      isOfNoSeats(charge)
        ? reachesMinimum(charge, { window, terms, elsewhere, isOwn })
        : isOwn || !charge.inAdvance || isBilled(charge),
    )
    // What it billed ahead may be no charge any more, such as that of an ADDON that the schedule ended before.
    const isCharged = charges.some(isOf) || (!isOwn && hasBilledOf(elsewhere, having, window.cutoffAt))
    if (window.cutoffAt >= from && isCharged) return isOwn
    for (const { key, inAdvance } of charges) if (inAdvance) ahead.add(key)
  }
  return false
}

const LISTS = [
  ['product_items', 'PRODUCT_ITEM', 'product_item_ids'],
  ['products', 'PRODUCT', 'product_ids'],
  ['product_categories', 'CATEGORY', 'product_category_ids'],
] as const satisfies readonly (readonly [string, (typeof CLAUSE_LEVELS)[number], string])[]

const idsOf = ({ limited_to }: AppliedCoupon, member: (typeof LISTS)[number][2]): readonly string[] =>
  limited_to?.[member] ?? []

const isLimited = (coupon: AppliedCoupon): boolean => LISTS.some(([, , member]) => idsOf(coupon, member).length > 0)

/** Whether a coupon applies to what a price sells. */
export const isLimitedTo = (coupon: AppliedCoupon, { productItem, product, category }: PriceTerm): boolean =>
  !isLimited(coupon) ||
  idsOf(coupon, 'product_item_ids').includes(productItem.id) ||
  idsOf(coupon, 'product_ids').includes(product.id) ||
  (category !== null && idsOf(coupon, 'product_category_ids').includes(category.id))

/** Whether it is of some things, and an amount or under a condition. */
export const isOnceForThings = ({ discount, limited_to }: Pick<AppliedCoupon, 'discount' | 'limited_to'>): boolean =>
  limited_to !== null && (discount.amount != null || discount.condition != null)

/** How coupons count. Absent members are the rules of now. */
export type CouponRules = {
  /** A coupon on some things deducted its amount, and compared its condition, for each period on the invoice. */
  readonly couponsEachPeriod?: true
  /** A coupon that went along to a later schedule counted for each schedule on the invoice. */
  readonly couponsEachSchedule?: true
}

/** A coupon as it counts on an invoice. `alsoOf`: other schedules that have it by the same redemption. */
export type CountingCoupon = ApplicableCoupon & { readonly alsoOf: readonly string[] }

/**
 * Each redemption once, for all schedules that have it: an amount, free usage and a condition are of what all of them charge. It is named
 * after the first of them that charges something.
 */
export function onceEach(
  coupons: readonly ApplicableCoupon[],
  { charges, rules }: { readonly charges: readonly Charge[]; readonly rules: CouponRules | null },
): CountingCoupon[] {
  const charging = new Set(charges.map(({ schedule }) => schedule.id))
  const keyOf = ({ schedule, coupon }: ApplicableCoupon): string =>
    rules?.couponsEachSchedule ? `${coupon.coupon_id} of ${schedule.id}` : redemptionOf(coupon, schedule)
  return [...groupBy(coupons, keyOf).values()].flatMap(group => {
    const first = group.find(({ schedule }) => charging.has(schedule.id)) ?? group[0]
    if (!first) return []
    return { ...first, alsoOf: group.flatMap(({ schedule }) => (schedule.id === first.schedule.id ? [] : schedule.id)) }
  })
}

type DeductedBy = {
  readonly terms: readonly PriceTerm[]
  readonly exchangeOf: ExchangeOf
  readonly rules: CouponRules | null
}

/** What these coupons deduct: from what they are limited to, otherwise from the total of the schedules that have them. */
export const couponDiscounts = (
  coupons: readonly CountingCoupon[],
  { terms, exchangeOf, rules }: DeductedBy,
): Discount[] =>
  coupons
    .filter(({ coupon }) => !coupon.discount.usage)
    .map(counting => ({
      ...discountOf(counting, terms, moneyOf(counting.schedule, exchangeOf)),
      ...(counting.alsoOf.length > 0 ? { alsoOf: counting.alsoOf } : {}),
      ...(rules?.couponsEachPeriod ? { eachPeriod: true } : {}),
    }))

function discountOf(
  { schedule, coupon }: ApplicableCoupon,
  terms: readonly PriceTerm[],
  money: ReturnType<typeof moneyOf>,
): Discount {
  const { amount, percentage, condition } = coupon.discount
  const { list, of } = targetOf(coupon, terms)
  return {
    id: `${schedule.id} coupon_discount.${list}.${coupon.coupon_id}`,
    scheduleId: schedule.id,
    during: null,
    of,
    value: amount
      ? { kind: 'AMOUNT', amount: money(amount.quantity) }
      : { kind: 'PERCENTAGE', percentage: percentage ? decimal(percentage) : ZERO },
    condition: condition ? { comparator: condition.comparator, amount: money(condition.value.amount.quantity) } : null,
    coupon: { couponId: coupon.coupon_id, promotionCodeId: coupon.promotion_code_id },
  }
}

/**
 * A coupon limited to several kinds of objects is one discount on everything that any of them names, so that a fixed
 * amount is deducted once.
 */
function targetOf(coupon: AppliedCoupon, terms: readonly PriceTerm[]): { list: string; of: ClauseTarget | null } {
  const given = LISTS.filter(([, , member]) => idsOf(coupon, member).length > 0)
  const [only] = given
  if (!only) return { list: 'totals', of: null }
  const [list, level, member] = only
  if (given.length === 1) return { list, of: { level, ids: idsOf(coupon, member) } }
  const ids = terms.filter(term => isLimitedTo(coupon, term)).map(({ productItem }) => productItem.id)
  return { list: 'product_items', of: { level: 'PRODUCT_ITEM', ids: [...new Set(ids)] } }
}
