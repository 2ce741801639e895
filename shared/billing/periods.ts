// Billing periods: cut at local midnights, at the starts of months and weeks or at anniversaries, and counted in local days
// (semantics 4.4). Instants stay UTC and intervals half-open.
import { Temporal } from 'temporal-polyfill'
import { type Instant, type Interval, intersect, interval } from '../time.ts'
import {
  type DayStart,
  dateText,
  dayAt,
  dayStart,
  dayStartAt,
  daysFrom,
  daysUpTo,
  instantIn,
  type LocalDate,
  plainDate,
  type Zone,
  zoned,
} from './local-days.ts'
import { CACHE_MAX, memoized } from './memoized.ts'

export const PERIOD_TYPES = ['DAY', 'WEEK', 'MONTH', 'YEAR'] as const
export type PeriodLength = { readonly type: (typeof PERIOD_TYPES)[number]; readonly value: number }
/** CALENDAR: cut at month, week and year starts. EXACT: cut at the anniversaries of the anchor. */
export type BillingTime = 'CALENDAR' | 'EXACT'

/**
 * Schedules without an end continue up to here, the end of the last year in which an instant can be written; nothing later is computed, and
 * no period that ends later.
 */
export const HORIZON_AT = Date.UTC(2200, 0)
/**
 * Calendar periods of n months (n weeks) are counted from here: quarters start in January, weeks on Monday. Periods
 * whose length does not divide a year continue over new year, so that every period is whole.
 */
const MONTH_EPOCH = Temporal.PlainDate.from('2000-01-01')
const WEEK_EPOCH = Temporal.PlainDate.from('2000-01-03')

/** Cached grids; each has its own cache of cuts. */
const GRIDS_MAX = 2_000

type Step = { readonly unit: 'months' | 'days'; readonly size: number }

/**
 * A period as months or as days: a year is 12 months, a week 7 days. Throws RangeError unless value is a whole number ≥
 * 1.
 */
export function stepOf(length: PeriodLength): Step {
  if (!Number.isSafeInteger(length.value) || length.value < 1 || length.value > 10_000) {
    throw new RangeError(`a period is 1 to 10000 units long, not ${length.value}`)
  }
  switch (length.type) {
    case 'DAY':
      return { unit: 'days', size: length.value }
    case 'WEEK':
      return { unit: 'days', size: 7 * length.value }
    case 'MONTH':
      return { unit: 'months', size: length.value }
    case 'YEAR':
      return { unit: 'months', size: 12 * length.value }
  }
}

/** How long a period is about, to compare it with another: in days, with a month as a twelfth of 365. */
export function aboutDaysOf(length: PeriodLength): number {
  const { unit, size } = stepOf(length)
  return unit === 'days' ? size : (size * 365) / 12
}

const steps = (from: Temporal.PlainDate, step: Step, count: number): Temporal.PlainDate =>
  from.add(step.unit === 'months' ? { months: step.size * count } : { days: step.size * count })

/**
 * `times` periods after `date`; a day that the month does not have becomes its last (31 January + 1 month = 28
 * February).
 */
export const addPeriod = memoized(
  (date: LocalDate, length: PeriodLength, times: number = 1): LocalDate =>
    dateText(steps(plainDate(date), stepOf(length), times)),
  (date, { type, value }, times = 1) => `${date} ${type} ${value} ${times}`,
)

/** `times` periods after `at`, at the same local time of day: the end of a term that starts at `at`. */
export function addPeriodAt(at: Instant, length: PeriodLength, zone: Zone, times = 1): Instant {
  const { unit, size } = stepOf(length)
  const local = zoned(at, zone).toPlainDateTime()
  return instantIn(local.add(unit === 'months' ? { months: size * times } : { days: size * times }), zone)
}

/** How a schedule is cut. `anchor` (EXACT, and CALENDAR days) is usually the start of the subscription. */
export type PeriodGrid = {
  readonly length: PeriodLength
  readonly billingTime: BillingTime
  readonly zone: Zone
  readonly anchor: Instant
}

/** The time of a schedule; with `end` null it never ends. */
export type Span = { readonly start: Instant; readonly end: Instant | null }

/** Whether an instant lies in it. */
export const isWithin = ({ start, end }: Span, instant: Instant): boolean =>
  start <= instant && (end === null || instant < end)

export type BillingPeriod = {
  /** 0 for the period in which the span starts, then counting up. */
  readonly index: number
  /** The whole period, between two local midnights. */
  readonly full: Interval
  /** The part inside the span. */
  readonly covered: Interval
  readonly fullDays: number
  readonly coveredDays: number
}

/** Where one period ends and the next begins. */
type Cut = DayStart

/** How one grid cuts time. All prices and customers on it have the same periods, so each is computed once. */
type Cuts = {
  /**
   * The cut before the period with this ordinal. Every cut is counted from the origin, so 31 January never drifts to
   * the 28th.
   */
  readonly at: (ordinal: number) => Cut
  /** Days of the period with this ordinal. */
  readonly daysIn: (ordinal: number) => number
  /** The ordinal of the period that contains the day of this instant. */
  readonly ordinalAt: (at: Instant) => number
}

const cutsOf = memoized(
  ({ length, billingTime, zone, anchor }: PeriodGrid): Cuts => {
    const step = stepOf(length)
    const origin = isCounted(length, billingTime)
      ? dayAt(anchor, zone)
      : step.unit === 'months'
        ? MONTH_EPOCH
        : WEEK_EPOCH
    const cuts = new Map<number, Cut>()
    const at = (ordinal: number): Cut => {
      const known = cuts.get(ordinal)
      if (known) return known
      const cut = dayStart(steps(origin, step, ordinal), zone)
      if (cuts.size >= CACHE_MAX) cuts.clear()
      cuts.set(ordinal, cut)
      return cut
    }
    return {
      at,
      daysIn: (ordinal: number) => daysUpTo(at(ordinal), at(ordinal + 1)),
      ordinalAt: memoized(
        (instant: Instant) => ordinalOf({ origin, step, at }, dayAt(instant, zone)),
        instant => instant,
      ),
    }
  },
  // Calendar months and weeks are the same whatever the anchor.
  ({ length, billingTime, zone, anchor }) =>
    `${length.type} ${length.value} ${isCounted(length, billingTime) ? anchor : ''} ${zone}`,
  GRIDS_MAX,
)

/**
 * Whether periods are counted from the anchor. Days have no calendar start to align to, so both billing times count
 * them from the anchor.
 */
const isCounted = (length: PeriodLength, billingTime: BillingTime): boolean =>
  billingTime === 'EXACT' || length.type === 'DAY'

function ordinalOf(
  { origin, step, at }: { readonly origin: Temporal.PlainDate; readonly step: Step; readonly at: Cuts['at'] },
  date: Temporal.PlainDate,
): number {
  if (step.unit === 'days') return Math.floor(daysFrom(origin, date) / step.size)
  const months = (date.year - origin.year) * 12 + date.month - origin.month
  const ordinal = Math.floor(months / step.size)
  return Temporal.PlainDate.compare(at(ordinal).date, date) > 0 ? ordinal - 1 : ordinal
}

function periodAt(cuts: Cuts, zone: Zone, span: Span, ordinal: number, first: number): BillingPeriod | null {
  const from = cuts.at(ordinal)
  const to = cuts.at(ordinal + 1)
  if (from.start >= to.start) return null // a day that a zone skipped when it crossed the date line
  const full = interval(from.start, to.start)
  const covered = intersect(full, { start: span.start, end: span.end ?? to.start })
  if (!covered) return null
  const fullDays = cuts.daysIn(ordinal)
  const whole = covered.start === from.start && covered.end === to.start
  return {
    index: ordinal - first,
    full,
    covered,
    fullDays,
    coveredDays: whole ? fullDays : daysOf(covered, { from, to }, zone),
  }
}

/** Days of a part of a period; the part lies between two cuts. */
function daysOf({ start, end }: Interval, { from, to }: { readonly from: Cut; readonly to: Cut }, zone: Zone): number {
  const first = start === from.start ? from : dayStartAt(start, zone)
  const after = end === to.start ? to : dayStartAt(end, zone)
  return daysUpTo(first, after)
}

/**
 * The periods in which a span is billed, in order and lazily: their covered parts tile the span without gap or overlap,
 * and only the first and the last can be partial. A span without end yields those that end before the year 2200. Semantics 4.4.
 * With `from`, the periods that end by then are left out, and take no time.
 */
export function* billingPeriods(
  grid: PeriodGrid,
  span: Span,
  from: Instant = span.start,
): Generator<BillingPeriod, void, undefined> {
  const cuts = cutsOf(grid)
  const first = cuts.ordinalAt(span.start)
  for (let ordinal = from > span.start ? cuts.ordinalAt(from) : first; ; ordinal += 1) {
    const cut = cuts.at(ordinal)
    if (span.end === null ? cuts.at(ordinal + 1).start >= HORIZON_AT : cut.start >= span.end) return
    const period = periodAt(cuts, grid.zone, span, ordinal, first)
    if (period) yield period
  }
}

/** The period of the span that contains `at`, or null when `at` lies outside the span. */
export function billingPeriodAt(grid: PeriodGrid, span: Span, at: Instant): BillingPeriod | null {
  if (at < span.start || (span.end !== null && at >= span.end)) return null
  const cuts = cutsOf(grid)
  return periodAt(cuts, grid.zone, span, cuts.ordinalAt(at), cuts.ordinalAt(span.start))
}
