// Which invoices a preview shows: those that the subscription will have from a moment on. Each knows what those before
// it bill in advance, and late usage goes on one of them. Pure.
import { AppError } from '../../../../shared/errors.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { isOpenEnded } from '../../invoices/table.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { billsLateUsage } from '../late/closed-usage.ts'
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
  readonly from: Instant
  readonly perSchedule: number
}

/**
 * The next invoices of each schedule: for the period that contains `from`, and for later periods. Throws INVALID_FIELD for a time that is
 * too many periods after the last invoice.
 */
export function previewWindows({ inputs, terms, rows, from, perSchedule }: PreviewRequest): PreviewWindow[] {
  const left = new Map(inputs.schedules.map(schedule => [schedule.id, perSchedule]))
  const chosen: PreviewWindow[] = []
  const invoiced = new Set(rows.map(keyOfRow))
  let [ahead, scanned] = [0, 0]
  for (const candidate of candidates(inputs, terms, rows)) {
    const { window, charges } = candidate
    dropEnded(inputs, window, left)
    if (isBefore(window, from)) {
      if (!invoiced.has(keyOfWindow(window))) ahead += 1
      if (ahead > AHEAD_MAX) throw tooFarAhead()
      continue
    }
    scanned += 1
    if (chosen.length >= PREVIEWS_MAX || scanned > WINDOWS_MAX || left.size === 0) break
    const wanted = new Set(charges.map(charge => charge.schedule.id).filter(id => left.has(id)))
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

/** Periods are half-open: a moment on their boundary belongs to the period that starts there (semantics 5.6). */
const isBefore = ({ arrears, cutoffAt }: InvoiceWindow, from: Instant): boolean =>
  arrears === null ? cutoffAt < from : arrears.end <= from

/** The first invoice from `from` on that is wanted; null when none is within the periods that a preview searches. */
export function findWindow(
  { inputs, terms, rows, from }: Omit<PreviewRequest, 'perSchedule'>,
  isWanted: (candidate: CandidateWindow) => boolean,
): CandidateWindow | null {
  let scanned = 0
  for (const candidate of candidates(inputs, terms, rows)) {
    if (isBefore(candidate.window, from)) continue
    scanned += 1
    if (scanned > WINDOWS_MAX) return null
    if (isWanted(candidate)) return candidate
  }
  return null
}

/** Every invoice in order with what it bills. */
function* candidates(
  inputs: BillingInputs,
  terms: readonly PriceTerm[],
  rows: readonly SubscriptionInvoice[],
): Generator<CandidateWindow, void, undefined> {
  const ahead = new Set<string>()
  let mayTakeLate = billsLateUsage(inputs.platform.late_event_policy)
  const closed = new Set(rows.filter(row => !isOpenEnded(row)).map(keyOfRow))
  for (const window of invoiceWindows(inputs)) {
    if (!mayHaveInvoice(rows, window)) continue
    const key = keyOfWindow(window)
    const billed = new Set([...ahead, ...billedElsewhere(rows, { key, cutoffAt: window.cutoffAt })])
    const charges = chargesOf(terms, window, billed)
    const isClosed = closed.has(key)
    // What a closed invoice did not bill is still to be billed, so only the charges of open invoices count here.
    for (const charge of isClosed ? [] : charges.filter(({ inAdvance }) => inAdvance)) ahead.add(charge.key)
    // The first window has an invoice only when something is billed in advance.
    const isOpen = !isClosed && (window.arrears !== null || charges.length > 0)
    yield { window, billed, charges, billsLateUsage: mayTakeLate && isOpen }
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
