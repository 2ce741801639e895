// Applies clauses to the charges of an invoice and makes the resulting draft lines. Pure.
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { applyClauses } from '../../../../shared/billing/steps/apply-clauses.ts'
import { type Clauses, NO_CLAUSES } from '../../../../shared/billing/steps/clauses.ts'
import type { Because, Line } from '../../../../shared/billing/steps/line.ts'
import { isAbout, type StepContext } from '../../../../shared/billing/steps/step.ts'
import { type Decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { type Interval, without } from '../../../../shared/time.ts'
import { type DraftLine, groupKey, type LineGroup, NO_GROUP } from '../../invoices/document/draft-invoice.ts'
import { stepLineOf, walletLines } from '../../invoices/document/wallet-lines.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { fullPeriodOf } from '../charges/charges.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { isMetered } from '../terms/price-terms.ts'
import { pathOfClause } from './clauses-of.ts'
import type { ApplicableCoupon } from './coupon-clauses.ts'
import { groupOf, type LineSource, pausedIn, scopeOf } from './draft-line.ts'
import type { RatedCharge } from './rate-charge.ts'

/** What billing stores with a line that a clause made; a minimum that is reached ahead is an advance charge too. */
type ClauseSource = Partial<LineSource> & { readonly clause: string; readonly step: Because['step'] }

type Applied = {
  /**
   * Lines besides the charges: clauses apply to lines added by users as to charges, and wallets pay what remains after
   * refunds.
   */
  readonly beside: readonly DraftLine[]
  /** What was billed before, of the late usage among the charges. */
  readonly late: readonly LateCharge[]
  readonly clauses: Clauses
  readonly context: StepContext
  /** The billing period of the subscription, for lines that apply to the whole invoice. */
  readonly period: PeriodLength
  /** The coupons behind the clauses, for their names. */
  readonly coupons: readonly ApplicableCoupon[]
}

/** The lines that clauses make from charges, and what discounts deduct from each advance charge, by charge key. */
export type ClauseResult = {
  readonly lines: readonly DraftLine[]
  readonly deducted: ReadonlyMap<string, Pick<LineSource, 'deducted' | 'deducted_by'>>
  /** What a minimum counts of each advance charge that a coupon lowered, by charge key. */
  readonly counted: ReadonlyMap<string, LineSource['counted']>
  /** Every line with what changed it. */
  readonly steps: readonly Line[]
}

/** What clauses make of these charges. Charges without usage are included: a later commitment needs to count them. */
export function clauseLines(rated: readonly RatedCharge[], applied: Applied): ClauseResult {
  const billed = new Map(applied.late.map(({ charge, unit }) => [charge.key, unit.printed]))
  const before = [...rated.map(each => withBefore(lineOf(each), billed)), ...applied.beside.map(stepLineOf)]
  const lines = applyClauses(before, applied.clauses, applied.context)
  const groups = new Map<string, LineGroup>([
    ...rated.map(({ charge }): [string, LineGroup] => [charge.key, groupOf(charge)]),
    ...applied.beside.map(({ key, group }): [string, LineGroup] => [key, group]),
  ])
  const changes: DraftLine[] = []
  for (const line of lines.filter(({ kind }) => CHANGES.includes(kind))) {
    // A minimum refers to the lines in its scope; any other clause line refers to the lines that it changed.
    const changed =
      line.kind === 'COMMITMENT'
        ? lines.filter(each => each.kind === 'REVENUE' && each.applicableForClauses === null && coveredBy(line, each))
        : lines.filter(each => each.key !== line.key && each.because.some(why => why.lineKey === line.key))
    const made = clauseLine(line, { ...applied, groups: changed.flatMap(({ key }) => groups.get(key) ?? []) })
    groups.set(line.key, made.group)
    changes.push(made)
  }
  const deducted = new Map(
    lines.filter(({ inAdvance }) => inAdvance).map(line => [line.key, deductedFrom(line)] as const),
  )
  const counted = countedOf(lines, applied.clauses)
  return { lines: [...changes, ...walletLines(lines, { ...applied, groups })], deducted, counted, steps: lines }
}

const CHANGES: readonly Line['kind'][] = ['MARKUP', 'DISCOUNT', 'COMMITMENT']

/** Whether a minimum applies to a line: it covers everything in its scope. */
const coveredBy = ({ of }: Line, line: Line): boolean =>
  (Object.keys(of) as (keyof Line['of'])[]).every(name => of[name] === null || of[name] === line.of[name])

const PRICE_STEPS: readonly Because['step'][] = ['MARKUP', 'DISCOUNT', 'TOTAL_DISCOUNT']

/**
 * What discounts deduct from it, less what markups add to it: a refund returns what was paid. Besides, what amounts on prices
 * deducted of that, where it is not all: a refund gives it back to them, and nothing where percentages took all.
 */
function deductedFrom({ because }: Line): Pick<LineSource, 'deducted' | 'deducted_by'> {
  const all = sum(because.filter(({ step }) => PRICE_STEPS.includes(step)).map(({ exact }) => exact.neg()))
  const amounts = because.filter(
    ({ step, percentage, coupon }) => step === 'DISCOUNT' && percentage === null && coupon === null,
  )
  if (all.eq(ZERO) && amounts.length === 0) return {}
  const isAll = amounts.length === 1 && amounts.every(({ exact }) => exact.neg().eq(all))
  return {
    deducted: plain(all),
    ...(isAll ? {} : { deducted_by: amounts.map(({ clauseId, exact }) => [clauseId, plain(exact.neg())] as const) }),
  }
}

/** What minimums count of the advance charges that coupons lowered. */
const countedOf = (lines: readonly Line[], { commitments }: Clauses): ClauseResult['counted'] =>
  new Map(
    lines
      .filter(
        line =>
          line.inAdvance &&
          line.kind === 'REVENUE' &&
          line.because.some(({ step, coupon }) => step === 'DISCOUNT' && coupon !== null) &&
          commitments.some(each => each.of !== null && isAbout(each, line)),
      )
      .map(line => [line.key, [plain(line.exact), plain(afterPrices(line))]]),
  )

/** What markups and discounts on prices left of a charge; minimums and discounts on the total come after. */
export const afterPrices = ({ exact, because }: Line): Decimal =>
  exact.plus(sum(because.filter(({ step }) => step === 'MARKUP' || step === 'DISCOUNT').map(each => each.exact)))

/** Charges of earlier invoices as they were charged, after the markups and discounts on prices. */
export function earlierLines(rated: readonly RatedCharge[], clauses: Clauses, context: StepContext): Line[] {
  if (rated.length === 0) return []
  const onPrices = clauses.discounts.filter(({ of }) => of !== null)
  const lines = applyClauses(
    rated.map(lineOf),
    { ...NO_CLAUSES, markups: clauses.markups, discounts: onPrices },
    context,
  )
  return lines.filter(({ kind }) => kind === 'REVENUE')
}

/** The lines; each advance charge keeps what discounts deducted from it, and what minimums count of it. */
export const withDeductions = (
  lines: readonly DraftLine[],
  { deducted, counted }: Pick<ClauseResult, 'deducted' | 'counted'>,
): DraftLine[] =>
  lines.map(line => {
    const part = deducted.get(line.key) ?? {}
    const own = counted.get(line.key)
    if (part.deducted === undefined && !own) return line
    const kept = { ...part, ...(own ? { counted: own } : {}) }
    return { ...line, source: { ...line.source, ...kept } }
  })

function lineOf({ charge, metered, before, quantity }: RatedCharge): Line {
  const { pricingItemId, ...of } = scopeOf(charge)
  return {
    key: charge.key,
    kind: 'REVENUE',
    of: { ...of, itemId: pricingItemId },
    exact: quantity,
    taxCategory: charge.taxCategory,
    because: [],
    // When seats change in a period, or it is charged in parts, these belong together: a minimum is due once for all of them.
    period: {
      service: charge.seats || charge.rest ? charge.period.covered : charge.service,
      full: fullPeriodOf(charge),
    },
    inAdvance: charge.inAdvance,
    late: charge.late !== null,
    applicableForClauses: null,
    volume: isMetered(charge) ? metered.quantity.minus((charge.late && before?.volume.quantity) ?? ZERO) : null,
  }
}

const withBefore = (line: Line, billed: ReadonlyMap<string, Decimal>): Line => {
  const before = billed.get(line.key)
  return before === undefined ? line : { ...line, before }
}

const TYPES: Readonly<Record<string, string>> = {
  pricing_item_configs: 'PRICING_ITEM_CONFIG',
  pricing_items: 'PRICING_ITEM',
  pricings: 'PRICING',
  product_items: 'PRODUCT_ITEM',
  products: 'PRODUCT',
  product_categories: 'PRODUCT_CATEGORY',
  totals: 'TOTAL',
  usage: 'USAGE',
}

function clauseLine(
  line: Line,
  { groups, context, period, coupons, clauses }: Applied & { groups: readonly LineGroup[] },
): DraftLine {
  const [why] = line.because
  // A minimum where nothing was charged stands under no heading.
  const first = groups[0] ?? (line.kind === 'COMMITMENT' ? NO_GROUP : undefined)
  if (!why || !first) throw new Error(`the line ${line.key} is of no other line`)
  const path = pathOfClause(why.clauseId)
  const free = clauses.freeUsage.find(({ id }) => id === why.clauseId)
  const type = TYPES[path.split('.')[1] ?? ''] ?? 'TOTAL'
  const { itemId, ...of } = line.of
  const coupon = coupons.find(each => each.coupon.coupon_id === why.coupon?.couponId)?.coupon
  const shared = groups.every(group => groupKey(group) === groupKey(first))
  const ahead = line.inAdvance
    ? {
        key: line.key,
        in_advance: true,
        ...pausedIn(line.period.service, notPaidFor(line, context)),
        ...(line.period.service.end < line.period.full.end ? { period_end: line.period.full.end } : {}),
      }
    : {}
  const source: ClauseSource = { clause: why.clauseId, step: why.step, ...ahead }
  return {
    key: line.key,
    kind: line.kind,
    of: { ...of, pricingItemId: itemId },
    quantity: line.exact,
    taxCategory: line.taxCategory,
    service: line.period.service,
    group:
      type !== 'TOTAL' && shared
        ? first
        : { ...first, billingPeriod: period, pricing: null, category: null, product: null },
    description: free
      ? `${coupon?.coupon_name ?? 'Coupon'}: ${plain(free.quantity)} free`
      : nameOf(line, why, { type, coupon: coupon?.coupon_name }),
    printed: {
      ...(itemId === null ? {} : { pricing_item_id: itemId }),
      ...(of.configId === null ? {} : { pricing_item_config_id: of.configId }),
      product_items: [],
      ...(line.kind === 'COMMITMENT' ? { commitment_type: type } : {}),
      ...(line.kind === 'DISCOUNT' ? { discount_type: type } : {}),
      clause: path,
      ...(coupon ? { coupon_data: couponData(coupon) } : {}),
    },
    details: {
      pricing_currency: context.currency,
      pricing_amount: amountView(amount(line.exact, context.currency)),
      description: explained(line, why, context.currency),
    },
    source,
  }
}

/** The times that a line of a minimum is not for. */
const notPaidFor = ({ paidBefore = [] }: Line, { pauses }: StepContext): readonly Interval[] =>
  paidBefore.length === 0 ? pauses : [...paidBefore, ...without(pauses, paidBefore)]

const couponData = (coupon: AppliedCoupon) => ({
  coupon_id: coupon.coupon_id,
  coupon_name: coupon.coupon_name,
  ...(coupon.promotion_code_id === null ? {} : { promotion_code_id: coupon.promotion_code_id }),
  ...(coupon.promotion_code === null ? {} : { promotion_code: coupon.promotion_code }),
})

const NAMES: Readonly<Partial<Record<Line['kind'], string>>> = { MARKUP: 'Markup', COMMITMENT: 'Minimum' }

type Named = { readonly type: string; readonly coupon: string | undefined }

const nameOf = ({ kind }: Line, { percentage }: Because, { type, coupon }: Named): string =>
  [
    NAMES[kind] ?? (coupon === undefined ? 'Discount' : `${coupon}: discount`),
    ...(percentage === null ? [] : [`of ${plain(percentage)} %`]),
    ...(type === 'TOTAL' ? ['on the total'] : []),
  ].join(' ')

/** What it was computed from; for a discount that covers only some days, also the share of the time. */
function explained({ kind, exact }: Line, { percentage, base, share, taken }: Because, currency: string): string {
  const of = `${plain(base)} ${currency}`
  const part = share === null ? '' : `, for ${plain(share.numerator)}/${plain(share.denominator)} of the time`
  if (kind === 'COMMITMENT' && exact.lt(ZERO))
    return `Given back: ${of} were charged, and less is missing than was added before`
  if (kind === 'COMMITMENT') return `Up to what is committed, beyond the ${of} that were charged`
  if (percentage !== null) return `${plain(percentage)} % of ${of}${part}`
  const before = taken === undefined ? '' : `, beyond the ${plain(taken)} ${currency} that were deducted ahead`
  return kind === 'MARKUP' ? `On top of ${of}${part}` : `Deducted from ${of}${part}${before}`
}
