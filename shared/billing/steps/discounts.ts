// Steps 6 and 8 of semantics 5.4: discounts on some lines, and on the total.
import { type Decimal, HUNDRED, max, min, sum, ZERO } from '../../decimal.ts'
import { type Fraction, isWhole, NOTHING, timesFraction, WHOLE } from '../fraction.ts'
import { CLAUSE_LEVELS, type Discount, type DiscountCondition } from './clauses.ts'
import { isCharged, type Line, type LinePeriod, netOf } from './line.ts'
import {
  applicableShare,
  atMost,
  byPeriod,
  byWeight,
  change,
  inTurn,
  isAbout,
  type PartOfChange,
  partsOfLines,
  type Step,
  type StepContext,
  totalOf,
} from './step.ts'

const COMPARE: Readonly<Record<DiscountCondition['comparator'], (a: Decimal, b: Decimal) => boolean>> = {
  EQUALS: (a, b) => a.eq(b),
  NOT_EQUALS: (a, b) => !a.eq(b),
  GREATER_THAN: (a, b) => a.gt(b),
  GREATER_THAN_OR_EQUALS: (a, b) => a.gte(b),
  LESS_THAN: (a, b) => a.lt(b),
  LESS_THAN_OR_EQUALS: (a, b) => a.lte(b),
}

const matches = (condition: DiscountCondition | null, base: Decimal): boolean =>
  condition === null || COMPARE[condition.comparator](base, condition.amount)

/** From narrow to wide, coupons last; equals stay in the order given. */
const inOrder = (discounts: readonly Discount[]): Discount[] => {
  const levelOf = ({ of }: Discount): number => (of === null ? CLAUSE_LEVELS.length : CLAUSE_LEVELS.indexOf(of.level))
  return discounts.toSorted((a, b) => Number(a.coupon !== null) - Number(b.coupon !== null) || levelOf(a) - levelOf(b))
}

/** Prorated by days, except that a coupon counts in full in any time it touches (semantics 4.4). */
function shareIn(discount: Discount, { service }: LinePeriod, { zone }: StepContext): Fraction {
  const share = applicableShare(discount.during, service, service, zone)
  return discount.coupon !== null && share.numerator.gt(ZERO) ? WHOLE : share
}

type Of = { readonly step: 'DISCOUNT' | 'TOTAL_DISCOUNT'; readonly period: LinePeriod; readonly context: StepContext }

/**
 * A percentage on prices deducts from late usage what it takes off the whole, less what it took off before. Coupons, and
 * discounts on the total or under a condition, are of what one invoice charges.
 */
const isOfWhole = ({ of, value, condition, coupon }: Discount): boolean =>
  of !== null && value.kind === 'PERCENTAGE' && condition === null && coupon === null

/** A percentage of each line, or one amount for all of them, never more than their sum. */
function discountLines(lines: readonly Line[], discount: Discount, members: readonly Line[], of: Of) {
  const { step, period, context } = of
  const base = totalOf(members)
  const ofWhole = isOfWhole(discount)
  if (!ofWhole && (base.lte(ZERO) || !matches(discount.condition, base))) return lines
  const wanted = partsOf(discount, members, base, of)
  const total = sum(wanted.map(({ exact }) => exact))
  if (wanted.length === 0 || (!ofWhole && total.lte(ZERO))) return lines
  const parts =
    !ofWhole && total.gt(base) ? wanted.map(each => ({ ...each, exact: each.exact.times(base).div(total) })) : wanted
  const { value } = discount
  const share = step === 'DISCOUNT' ? shareIn(discount, period, context) : WHOLE
  const taken = takenFor(discount, of)
  return change(
    lines,
    {
      step,
      kind: 'DISCOUNT',
      clauseId: discount.id,
      base,
      percentage: value.kind === 'PERCENTAGE' ? value.percentage : null,
      share: isWhole(share) ? null : share,
      coupon: discount.coupon,
      ...(taken.gt(ZERO) ? { taken } : {}),
      period,
      parts: parts.map(({ line, exact, before }) => ({
        line,
        exact: exact.neg(),
        ...(before === undefined ? {} : { before: before.neg() }),
      })),
    },
    context,
  )
}

function partsOf(
  { value, ...rest }: Discount,
  members: readonly Line[],
  base: Decimal,
  of: Of,
): readonly PartOfChange[] {
  const discount = { value, ...rest }
  const { step, period, context } = of
  if (value.kind === 'PERCENTAGE') {
    const percentage = min(value.percentage, HUNDRED)
    const partOf = (amount: Decimal, line: Line): Decimal =>
      timesFraction(amount.times(percentage).div(HUNDRED), shareIn(discount, line.period, context))
    return isOfWhole(discount)
      ? partsOfLines(members, partOf)
      : members.map(line => ({ line, exact: partOf(netOf(line), line) }))
  }
  // On the total an amount is deducted once per invoice, in full (contract: a fixed-amount invoice-level discount).
  const holds = members.some(line => shareIn(discount, line.period, context).numerator.gt(ZERO))
  const share = step === 'DISCOUNT' ? shareIn(discount, period, context) : holds ? WHOLE : NOTHING
  const left = max(timesFraction(value.amount, share).minus(takenFor(discount, of)), ZERO)
  return byWeight(members, atMost(left, base))
}

/**
 * What other invoices deducted by it for time that begins with the period and reaches as far: a fee ahead and usage afterwards
 * share an amount. A cancellation may have shortened the period since.
 */
const takenFor = ({ taken = [] }: Discount, { step, period: { service } }: Of): Decimal =>
  sum(
    step === 'DISCOUNT'
      ? taken.flatMap(({ time, amount }) => (time.start === service.start && service.end <= time.end ? [amount] : []))
      : [],
  )

/**
 * Late usage gets no fixed amount, because the invoice of its period already deducted it; a percentage applies to each
 * line.
 */
const joins = (discount: Discount, line: Line): boolean =>
  isAbout(discount, line) && !(line.late && discount.value.kind === 'AMOUNT')

/**
 * A coupon counts on whole invoices: its amount is deducted once from all periods together, and its condition is of all
 * of them.
 */
const isOfInvoice = ({ coupon, value, condition, eachPeriod }: Discount): boolean =>
  coupon !== null && eachPeriod !== true && (value.kind === 'AMOUNT' || condition !== null)

/**
 * Step 6: discounts on configs, items, pricings, product items, products and categories, in this order, then coupons on
 * them. Percentages compound: each applies to what the one before left. An amount is deducted once per billing period.
 */
export const discounts: Step = (lines, clauses, context) =>
  inTurn(lines, inOrder(clauses.discounts.filter(({ of }) => of !== null)), (now, discount) => {
    const groups = byPeriod(now.filter(line => joins(discount, line)))
    if (groups.length > 1 && isOfInvoice(discount))
      return discountLines(now, discount, groups.flat(), { step: 'DISCOUNT', period: context.invoicePeriod, context })
    return inTurn(now, groups, (current, members) =>
      discountLines(current, discount, members, { step: 'DISCOUNT', period: members[0].period, context }),
    )
  })

const TOTALS = 'discount.totals'

/** A line added by a user takes part where it says so (contract: applicable_for_clauses). */
const joinsTotal = (discount: Discount, line: Line): boolean =>
  isCharged(line) &&
  (line.applicableForClauses === null ? isAbout(discount, line) : line.applicableForClauses.includes(TOTALS))

/** Step 8: discounts on what is left of the whole invoice, coupons last; divided over the lines by weight, for tax. */
export const totalDiscounts: Step = (lines, clauses, context) =>
  inTurn(lines, inOrder(clauses.discounts.filter(({ of }) => of === null)), (now, discount) =>
    discountLines(
      now,
      discount,
      now.filter(line => joinsTotal(discount, line)),
      { step: 'TOTAL_DISCOUNT', period: context.invoicePeriod, context },
    ),
  )
