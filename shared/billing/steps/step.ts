// What every step of the amount pipeline does, and how it changes lines: it adds lines of its own, one for each tax
// category, and notes its part on each line that it changed.
import { type Decimal, max, sum, ZERO } from '../../decimal.ts'
import { amount, roundToTotal, toMoney } from '../../money.ts'
import { type Interval, instantOf, intersect, interval } from '../../time.ts'
import type { AmountType, RoundingMode } from '../amount-pipeline.ts'
import { type Fraction, NOTHING, WHOLE } from '../fraction.ts'
import type { Zone } from '../local-days.ts'
import type { Span } from '../periods.ts'
import { shareOf } from '../proration.ts'
import { TAX_CATEGORIES, type TaxCategory, type TaxDecided } from '../tax/tax.ts'
import { type Clauses, type ClauseTarget, LEVEL_SCOPES } from './clauses.ts'
import {
  type Because,
  commonScope,
  isCharged,
  type Line,
  type LineKind,
  type LinePeriod,
  netOf,
  wholeOf,
} from './line.ts'

export type StepContext = {
  readonly currency: string
  readonly amountType: AmountType
  readonly rounding: RoundingMode
  readonly tax: TaxDecided
  readonly zone: Zone
  /** When the subscription is paused. */
  readonly pauses: readonly Interval[]
  /** The period that the invoice collects: the time of clauses on its total. */
  readonly invoicePeriod: LinePeriod
}
/** Pure: the same lines and clauses give the same lines. A step never removes a line or changes its `exact`. */
export type Step = (lines: readonly Line[], clauses: Clauses, context: StepContext) => readonly Line[]

/** Applies one clause after the other, each to what the one before left. */
export const inTurn = <C>(
  lines: readonly Line[],
  clauses: readonly C[],
  apply: (lines: readonly Line[], clause: C) => readonly Line[],
): readonly Line[] => clauses.reduce(apply, lines)

type Scoped = {
  readonly scheduleId: string | null
  readonly of: ClauseTarget | null
  readonly alsoOf?: readonly string[]
}

/**
 * Whether a clause applies to a charged line. Lines added by users belong to no schedule, so only clauses on the total
 * apply to them.
 */
export function isAbout({ scheduleId, of, alsoOf = [] }: Scoped, line: Line): boolean {
  if (!isCharged(line) || line.applicableForClauses !== null) return false
  const { scheduleId: own } = line.of
  if (scheduleId !== null && own !== scheduleId && (own === null || !alsoOf.includes(own))) return false
  const id = of === null ? null : line.of[LEVEL_SCOPES[of.level]]
  return of === null || (id !== null && of.ids.includes(id))
}

/** Lines by the time they pay for, in order of time. */
export function byPeriod(lines: readonly Line[]): (readonly [Line, ...Line[]])[] {
  const groups = new Map<string, [Line, ...Line[]]>()
  for (const line of lines) {
    const { start, end } = line.period.service
    const group = groups.get(`${start} ${end}`)
    if (group) group.push(line)
    else groups.set(`${start} ${end}`, [line])
  }
  return [...groups.values()].sort(
    ([{ period: a }], [{ period: b }]) => a.service.start - b.service.start || a.service.end - b.service.end,
  )
}

const FOREVER = instantOf(Date.UTC(2200, 0))

/** The part of `time` in which a clause applies; null when there is none. */
export const applicableTime = (during: Span | null, time: Interval): Interval | null =>
  during === null ? time : intersect(interval(during.start, during.end ?? FOREVER), time)

/**
 * The local days of `time` in which a clause applies, as a share of the days of `within`; all of them for a clause
 * without dates.
 */
export function applicableShare(during: Span | null, time: Interval, within: Interval, zone: Zone): Fraction {
  const held = applicableTime(during, time)
  if (held === null) return NOTHING
  return held.start === within.start && held.end === within.end ? WHOLE : shareOf(held, within, zone)
}

export const totalOf = (lines: readonly Line[]): Decimal => sum(lines.map(netOf))

/** In DEFAULT rounding a step adds rounded money, so that everything an invoice prints adds up. */
export const rounded = ({ rounding, currency }: StepContext, value: Decimal): Decimal =>
  rounding === 'DEFAULT' ? toMoney(amount(value, currency)).quantity : value

function settleParts(context: StepContext, parts: readonly Decimal[]): readonly Decimal[] {
  if (parts.length === 0) return parts
  const total = toMoney(amount(sum(parts), context.currency))
  return roundToTotal(parts, total).map(({ quantity }) => quantity)
}

export type PartOfChange = {
  readonly line: Line
  readonly exact: Decimal
  /** Of late usage: the same part of what earlier invoices charged, so that the whole is rounded once. */
  readonly before?: Decimal
}

/**
 * A part of each line. Of late usage it is the part of the whole less that of what earlier invoices charged. There is no
 * part of lines that sum to zero or less.
 */
export function partsOfLines(
  lines: readonly Line[],
  partOf: (of: Decimal, line: Line) => Decimal,
): readonly PartOfChange[] {
  const partsOf = (amountOf: (line: Line) => Decimal): Decimal[] => {
    const isAny = sum(lines.map(amountOf)).gt(ZERO)
    return lines.map(line => (isAny ? partOf(amountOf(line), line) : ZERO))
  }
  const [wholes, earlier] = [partsOf(wholeOf), partsOf(line => line.before ?? ZERO)]
  return lines.map((line, index) => {
    const before = earlier[index] ?? ZERO
    return { line, exact: (wholes[index] ?? ZERO).minus(before), before }
  })
}

type SettledPart = PartOfChange & { readonly before: Decimal }

/** Rounded, each part is that of the whole less what was given or charged before. */
function settled(context: StepContext, parts: readonly PartOfChange[]): SettledPart[] {
  const earlier = parts.map(({ before }) => before ?? ZERO)
  if (context.rounding === 'UNROUNDED') return parts.map(part => ({ ...part, before: part.before ?? ZERO }))
  const given = settleParts(context, earlier)
  const wholes = settleParts(
    context,
    parts.map(({ exact }, index) => exact.plus(earlier[index] ?? ZERO)),
  )
  return parts.map(({ line }, index) => {
    const before = given[index] ?? ZERO
    return { line, exact: (wholes[index] ?? ZERO).minus(before), before }
  })
}

/** Divides `total` by the amount of each line; equally when the amounts sum to zero. */
export function byWeight(lines: readonly Line[], total: Decimal): PartOfChange[] {
  const all = totalOf(lines)
  return lines.map(line => ({
    line,
    exact: all.eq(ZERO) ? total.div(lines.length.toString()) : total.times(netOf(line)).div(all),
  }))
}

type Change = Pick<Because, 'step' | 'clauseId' | 'base' | 'percentage' | 'share' | 'coupon' | 'taken'> & {
  readonly kind: LineKind
  readonly period: LinePeriod
  /** What it adds to each line, before rounding. */
  readonly parts: readonly PartOfChange[]
}

/** Changes lines: each notes its part, and one line of `kind` per tax category has the sum of the parts. */
export function change(
  lines: readonly Line[],
  { kind, period, parts, ...why }: Change,
  context: StepContext,
): readonly Line[] {
  const all = settled(context, parts)
  const changed = all.filter(({ exact }) => !exact.eq(ZERO))
  const earlier = new Map(all.map(({ line, before }) => [line.key, before]))
  const keyOf = (category: TaxCategory): string =>
    [kind, why.clauseId, period.service.start, period.service.end, category].join(' ')
  const reasons = new Map(
    changed.map(({ line, exact }): [string, Because] => [
      line.key,
      { ...why, exact, lineKey: keyOf(line.taxCategory) },
    ]),
  )
  const made = TAX_CATEGORIES.flatMap((taxCategory): Line[] => {
    const own = changed.filter(({ line }) => line.taxCategory === taxCategory)
    if (own.length === 0) return []
    const exact = sum(own.map(part => part.exact))
    const because = { ...why, exact, lineKey: keyOf(taxCategory) }
    const of = commonScope(own.map(({ line }) => line))
    return [adjustingLine({ key: keyOf(taxCategory), kind, of, exact, taxCategory, period }, because)]
  })
  const after = lines.map(given => {
    const reason = reasons.get(given.key)
    const line =
      given.before === undefined ? given : { ...given, before: given.before.plus(earlier.get(given.key) ?? ZERO) }
    return reason ? { ...line, because: [...line.because, reason] } : line
  })
  return [...after, ...made]
}

/** A line that a step made. */
export const adjustingLine = (
  line: Pick<Line, 'key' | 'kind' | 'of' | 'exact' | 'taxCategory' | 'period'>,
  because: Because,
): Line => ({ ...line, because: [because], inAdvance: false, late: false, applicableForClauses: null, volume: null })

/** How much of `total` a discount can deduct: never more than there is. */
export const atMost = (wanted: Decimal, total: Decimal): Decimal => {
  const most = max(total, ZERO)
  return wanted.gt(most) ? most : wanted
}
