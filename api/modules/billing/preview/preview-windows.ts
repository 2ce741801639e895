// Which invoices a preview shows: those that the subscription will have from a moment on. Each knows what those before
// it bill in advance, and late usage goes on one of them. Pure.
import { AppError } from '../../../../shared/errors.ts'
import type { PausingWork } from '../../../../shared/pausing-work.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { isOpenEnded } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { billsLateUsage } from '../late/closed-usage.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from '../refunds/refunds.ts'
import {
  billedElsewhere,
  keyOfRow,
  keyOfWindow,
  mayHaveInvoice,
  type SubscriptionInvoice,
} from '../run/state/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'

/** Most invoices that one preview computes. */
const PREVIEWS_MAX = 60
/** Periods searched for invoices that bill something; enough to find a yearly item on a daily cycle. */
const WINDOWS_MAX = 400
/** Periods without an invoice that a preview passes over before its own: months up to the last year, or six years of days. */
const AHEAD_MAX = 2_500
/** The same for all subscriptions together that are invoiced with the one of a preview. */
const SIBLINGS_AHEAD_MAX = 10_000

/** A period with what its invoice bills. */
export type CandidateWindow = {
  readonly window: InvoiceWindow
  readonly billed: ReadonlySet<string>
  readonly charges: readonly Charge[]
  /** Whether late usage goes on it. */
  readonly billsLateUsage: boolean
}
export type PreviewWindow = CandidateWindow & {
  /** The schedules this invoice is shown under. */
  readonly schedules: ReadonlySet<string>
}

export type PreviewRequest = {
  readonly inputs: BillingInputs
  readonly terms: readonly PriceTerm[]
  readonly rows: readonly SubscriptionInvoice[]
  /** What FINAL invoices charged ahead that may come back. */
  readonly ahead: readonly AdvanceCharge[]
  readonly from: Instant
  readonly perSchedule: number
}

/** How many periods without an invoice may still be passed over, and what is thrown for one more. */
export type PassingBound = { left: number; readonly refusal: () => AppError }

/**
 * The next invoices of each schedule: for the period that contains `from`, and for later periods. Pauses at each period. Throws
 * INVALID_FIELD for a time that is too many periods after the last invoice.
 */
export function* choosingWindows(request: PreviewRequest): PausingWork<PreviewWindow[]> {
  const { inputs, ahead, perSchedule } = request
  const left = new Map(inputs.schedules.map(schedule => [schedule.id, perSchedule]))
  const chosen: PreviewWindow[] = []
  const times = refundTimes(inputs)
  let scanned = 0
  for (const candidate of candidates(request, { left: AHEAD_MAX, refusal: tooFarAhead })) {
    yield
    if (candidate === null) continue
    const { window, charges } = candidate
    dropEnded(inputs, window, left)
    scanned += 1
    if (chosen.length >= PREVIEWS_MAX || scanned > WINDOWS_MAX || left.size === 0) break
    // The invoice of a subscription that ended may only refund.
    const refunded = refundsIn(window, times, ahead).map(({ charged }) => charged.scheduleId)
    const billed = charges.map(charge => charge.schedule.id)
    const wanted = new Set([...billed, ...refunded].filter(id => left.has(id)))
    for (const id of wanted) countDown(left, id)
    if (wanted.size > 0) chosen.push({ ...candidate, schedules: wanted })
  }
  return chosen
}

const tooFarAhead = (): AppError =>
  new AppError(
    'INVALID_FIELD',
    `start_at is more than ${AHEAD_MAX} periods after the last invoice. Choose an earlier time.`,
    { field: 'start_at' },
  )

/** For the subscriptions that are invoiced together, before one of them is searched. */
export const siblingsBound = (): PassingBound => ({
  left: SIBLINGS_AHEAD_MAX,
  refusal: () =>
    new AppError(
      'INVALID_FIELD',
      `The subscriptions that are invoiced together have more than ${SIBLINGS_AHEAD_MAX} periods from their last invoices to start_at. Choose an earlier time.`,
      { field: 'start_at' },
    ),
})

/** Periods are half-open: a moment on their boundary belongs to the period that starts there (semantics 5.6). */
const isBefore = ({ arrears, cutoffAt }: InvoiceWindow, from: Instant): boolean =>
  arrears === null ? cutoffAt < from : arrears.end <= from

type Searched = Pick<PreviewRequest, 'inputs' | 'terms' | 'rows' | 'from'>

/**
 * The first invoice from `from` on that is wanted; null when none is within the periods that a preview searches. Pauses at each period.
 * Throws the refusal of `bound` when too many periods without an invoice come before. A `from` that is not after now needs no bound.
 */
export function* findingWindow(
  searched: Searched,
  isWanted: (candidate: CandidateWindow) => boolean,
  bound: PassingBound | null = null,
): PausingWork<CandidateWindow | null> {
  let scanned = 0
  for (const candidate of candidates(searched, bound)) {
    yield
    if (candidate === null) continue
    scanned += 1
    if (scanned > WINDOWS_MAX) return null
    if (isWanted(candidate)) return candidate
  }
  return null
}

/** Every invoice in order with what it bills; null for each that is before `from`. */
function* candidates(
  { inputs, terms, rows, from }: Searched,
  bound: PassingBound | null,
): Generator<CandidateWindow | null, void, undefined> {
  const ahead = new Set<string>()
  let mayTakeLate = billsLateUsage(inputs.platform.late_event_policy)
  const invoiced = new Set(rows.map(keyOfRow))
  const closed = new Set(rows.filter(row => !isOpenEnded(row)).map(keyOfRow))
  for (const window of invoiceWindows(inputs)) {
    if (!mayHaveInvoice(rows, window)) continue
    const key = keyOfWindow(window)
    const isPassed = isBefore(window, from)
    if (bound && isPassed && !invoiced.has(key)) {
      bound.left -= 1
      if (bound.left < 0) throw bound.refusal()
    }
    // Of a closed invoice that is passed over, nothing is needed.
    if (isPassed && closed.has(key)) {
      yield null
      continue
    }
    const billed = new Set([...ahead, ...billedElsewhere(rows, { key, cutoffAt: window.cutoffAt })])
    const charges = chargesOf(terms, window, billed)
    const isClosed = closed.has(key)
    // What a closed invoice did not bill is still to be billed, so only the charges of open invoices count here.
    for (const charge of isClosed ? [] : charges.filter(({ inAdvance }) => inAdvance)) ahead.add(charge.key)
    // The first window has an invoice only when something is billed in advance.
    const isOpen = !isClosed && (window.arrears !== null || charges.length > 0)
    yield isPassed ? null : { window, billed, charges, billsLateUsage: mayTakeLate && isOpen }
    if (isOpen) mayTakeLate = false
  }
}

/** A schedule that ended before a window opens has no more invoices. */
function dropEnded(inputs: BillingInputs, window: InvoiceWindow, left: Map<string, number>): void {
  for (const { id, end_at } of inputs.schedules) if (end_at !== null && at(end_at) <= window.opensAt) left.delete(id)
}

function countDown(left: Map<string, number>, id: string): void {
  const count = (left.get(id) ?? 0) - 1
  if (count > 0) left.set(id, count)
  else left.delete(id)
}
