// When a subscription is invoiced: the time that each invoice collects, and the time that it bills in advance
// (semantics 5.3).
import type { Zone } from '../../../../shared/billing/local-days.ts'
import {
  type BillingPeriod,
  billingPeriodAt,
  billingPeriods,
  type PeriodGrid,
  type PeriodLength,
  type Span,
} from '../../../../shared/billing/periods.ts'
import { at, type Instant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { zoneOfParties } from '../../invoices/document/parties.ts'
import {
  type AlignedSpan,
  alignedSpanAt,
  alignedSpans,
  type InvoicedSpan,
  invoicedSpans,
  zoneAfterMoves,
} from '../../subscriptions/billing-time/billing-calendar.ts'
import type { BillingInputs, ScheduleInput, SubscriptionInput } from './billing-inputs.ts'

/** The inputs that decide when the subscription is billed. */
export type PeriodInputs = Parameters<typeof zoneOfParties>[0] & {
  readonly subscription: Pick<
    SubscriptionInput,
    'billing_period' | 'billing_time' | 'billing_anchor' | 'inactive_periods'
  >
  readonly schedules: readonly Pick<ScheduleInput, 'start_at' | 'end_at' | 'billing_period' | 'realign'>[]
  readonly issued_zones?: BillingInputs['issued_zones']
}

export type InvoiceWindow = {
  /** `[T−p, T)`, collected at the cutoff T; null on the first invoice, which has only advance charges. */
  readonly arrears: Interval | null
  /** `[T, T+p)`, paid ahead; null when the subscription ends at the cutoff. */
  readonly advance: Interval | null
  readonly cutoffAt: Instant
  /** From when on the invoice exists. */
  readonly opensAt: Instant
}

/** Whether it only refunds what was charged ahead. */
export const onlyRefunds = ({ arrears, cutoffAt }: InvoiceWindow): boolean => arrears !== null && cutoffAt < arrears.end

/** Whether it collects no time: it only charges ahead, or only refunds. */
export const collectsNothing = (window: InvoiceWindow): boolean => window.arrears === null || onlyRefunds(window)

/** The time an invoice is for: what it collects, or pays ahead when it collects nothing. */
export function periodOf({ arrears, advance }: InvoiceWindow): Interval {
  const period = arrears ?? advance
  if (!period) throw new Error('an invoice is for some time')
  return period
}

/**
 * From the first schedule's start to the last one's end or to the cancellation; null when nothing is left. Includes
 * pauses.
 */
export function activeSpan(inputs: Spanned): Span | null {
  const [first] = inputs.schedules
  if (!first) return null
  const start = at(first.start_at)
  const end = activeEnd(inputs)
  return end !== null && end <= start ? null : { start, end }
}

type Spanned = Pick<PeriodInputs, 'schedules' | 'subscription'>

/** The last schedule's end or the cancellation, also before it began; null where neither is known. */
export function activeEnd({ schedules, subscription }: Spanned): Instant | null {
  const last = schedules.at(-1)
  const ends = [
    ...(last && last.end_at !== null ? [last.end_at] : []),
    ...subscription.inactive_periods.filter(({ type }) => type !== 'PAUSE').map(period => period.start_at),
  ]
  return ends.length === 0 ? null : instantOf(Math.min(...ends.map(at)))
}

/** The parts of the active span, each with what its periods count from. */
const partsOf = ({ subscription, schedules }: PeriodInputs, span: Span) =>
  alignedSpans(
    subscription,
    span,
    schedules.flatMap(({ realign, start_at }) => (realign ? [start_at] : [])),
  )

/** The same parts, cut where the length of the periods changes by which they are invoiced. */
const invoicedPartsOf = (inputs: PeriodInputs, span: Span): [InvoicedSpan, ...InvoicedSpan[]] =>
  invoicedSpans(inputs.subscription, partsOf(inputs, span), inputs.schedules)

/** The zone in which the days of the subscription are cut, after the moves of its parties. */
export function billingZoneOf(inputs: PeriodInputs): Zone {
  const zone = zoneOfParties(inputs)
  return inputs.issued_zones
    ? zoneAfterMoves(inputs.issued_zones, zone, (time, left) => endOfPeriodAt(inputs, time, left))
    : zone
}

/** When the billing period ends that an instant is in; the instant itself where none is. */
function endOfPeriodAt(inputs: PeriodInputs, instant: Instant, zone: Zone): Instant {
  const active = activeSpan(inputs)
  if (!active) return instant
  const part = alignedSpanAt(invoicedPartsOf(inputs, active), instant)
  const grid = { ...gridOf(inputs, part, part.length), zone }
  return billingPeriodAt(grid, part.span, instant)?.full.end ?? instant
}

const gridOf = ({ subscription }: PeriodInputs, { anchor }: AlignedSpan, length: PeriodLength) => ({
  length,
  billingTime: subscription.billing_time,
  anchor,
})

const gridIn = (inputs: PeriodInputs, part: AlignedSpan, length: PeriodLength): PeriodGrid => ({
  ...gridOf(inputs, part, length),
  zone: billingZoneOf(inputs),
})

/**
 * How the subscription, or a part of it with its own period, is cut at an instant, and the span that is cut so. EXACT counts from its billing
 * anchor, otherwise from its start, and from the start of a schedule that realigns it.
 */
export function calendarAt(
  inputs: PeriodInputs,
  span: Span,
  instant: Instant,
): { readonly span: Span; readonly gridOf: (length: PeriodLength) => PeriodGrid } {
  const part = alignedSpanAt(partsOf(inputs, span), instant)
  return { span: part.span, gridOf: length => gridIn(inputs, part, length) }
}

/** The billing period that an instant is invoiced in; null where it is not billed. */
export function wholePeriodAt(inputs: PeriodInputs, instant: Instant): BillingPeriod | null {
  const active = activeSpan(inputs)
  if (!active) return null
  const part = alignedSpanAt(invoicedPartsOf(inputs, active), instant)
  return billingPeriodAt(gridIn(inputs, part, part.length), part.span, instant)
}

/** The length of the billing period that an instant is invoiced in. */
export function invoicedLengthAt(inputs: PeriodInputs, instant: Instant): PeriodLength {
  const active = activeSpan(inputs)
  return active ? alignedSpanAt(invoicedPartsOf(inputs, active), instant).length : inputs.subscription.billing_period
}

/** A billing period, or the rest of one whose first part was invoiced when nothing was known to follow it. */
type Billed = BillingPeriod & { readonly isRest: boolean }

/**
 * From when on there are invoices: where a TRIAL comes first that charges nothing they begin at its end, and who leaves before is charged
 * nothing. Null where nothing follows it yet.
 */
function billedFrom(inputs: BillingInputs): Instant | null {
  const first = firstBilled(inputs)
  return first ? at(first.start_at) : null
}

const firstBilled = ({ schedules }: BillingInputs): ScheduleInput | undefined =>
  schedules.find(({ trial }) => trial !== true)

/** When a TRIAL at the start ends that has prices of its own: what follows it is charged from then on, and not ahead with the trial. */
function paidTrialEnd(inputs: BillingInputs): readonly Instant[] {
  const first = firstBilled(inputs)
  return first?.only_overrides && first.end_at !== null ? [at(first.end_at)] : []
}

/** The billing periods of the active span from this moment on, in order; one in which billing resumed, or a paid trial ends, is in parts. */
function* periodsIn(inputs: BillingInputs, span: Span, from: Instant): Generator<Billed, void, undefined> {
  const resumed = (inputs.resumed_at ?? []).map(at)
  const trialEnd = paidTrialEnd(inputs)
  for (const part of invoicedPartsOf(inputs, span))
    for (const period of billingPeriods(gridIn(inputs, part, part.length), part.span)) {
      const { start, end } = period.covered
      if (end <= from) continue
      const covered = interval(instantOf(Math.max(start, from)), end)
      for (const piece of cutAt({ ...period, covered }, trialEnd))
        yield* cutAt({ ...period, covered: piece.covered }, resumed)
    }
}

/** The period up to each of these moments within it, in order, and the rest. */
function* cutAt(period: BillingPeriod, moments: readonly Instant[]): Generator<Billed, void, undefined> {
  let { start } = period.covered
  const { end } = period.covered
  let isRest = false
  for (const moment of moments) {
    if (moment <= start || end <= moment) continue
    yield { isRest, ...period, covered: interval(start, moment) }
    start = moment
    isRest = true
  }
  yield { isRest, ...period, covered: interval(start, end) }
}

/** Every invoice of the subscription in order, lazily; without an end they continue to the year 2200. */
export function* invoiceWindows(inputs: BillingInputs): Generator<InvoiceWindow, void, undefined> {
  yield* collectingWindows(inputs)
  yield* refundingWindow(inputs)
}

function* collectingWindows(inputs: BillingInputs): Generator<InvoiceWindow, void, undefined> {
  const [span, from] = [activeSpan(inputs), billedFrom(inputs)]
  if (!span || from === null) return
  let current: BillingPeriod | null = null
  for (const next of periodsIn(inputs, span, from)) {
    const opensAt: Instant = current?.covered.start ?? next.covered.start
    // The invoice of what came before was issued when it was the last: it charged nothing ahead of the rest.
    const advance = next.isRest ? null : next.covered
    yield { arrears: current?.covered ?? null, advance, cutoffAt: next.covered.start, opensAt }
    current = next
  }
  if (current)
    yield { arrears: current.covered, advance: null, cutoffAt: current.covered.end, opensAt: current.covered.start }
}

/**
 * The invoice that refunds what was charged ahead of the end before that was known. It is for the time that was charged, which no other
 * invoice collects: a subscription that ended is CANCELLED and takes no further schedule.
 */
function* refundingWindow({ charged_after_end: charged }: BillingInputs): Generator<InvoiceWindow, void, undefined> {
  if (!charged) return
  const arrears = interval(at(charged.start_at), at(charged.end_at))
  yield { arrears, advance: null, cutoffAt: arrears.start, opensAt: arrears.start }
}

/**
 * The time whose advance charges an invoice bills: charges that start in it, and charges that earlier invoices left
 * out.
 */
export function advanceScan(window: InvoiceWindow): Interval {
  const start = window.arrears?.start ?? window.cutoffAt
  return interval(start, (window.advance ?? window.arrears)?.end ?? window.cutoffAt)
}
