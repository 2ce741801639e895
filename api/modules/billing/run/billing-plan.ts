// What a billing run does next for a subscription, from its state and the time. Pure.
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import { openUntil } from '../../invoices/changes/grace.ts'
import { isOpenEnded } from '../../invoices/table.ts'
import { chargesOf } from '../charges/charges.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { mayClose } from './advance-invoices.ts'
import { endingOf, openUntilOf } from './open-until.ts'
import {
  billedElsewhere,
  keyOfRow,
  keyOfWindow,
  mayHaveInvoice,
  type SubscriptionInvoice,
} from './state/subscription-invoices.ts'

export type BillingPlan = {
  /** Keys of the invoices to create, close, void, finalize or compute again, most important first. */
  readonly keys: readonly string[]
  /** How many of them, from the start, a run always processes: those to create, close or void. */
  readonly moving: number
  /** Whether any period has ended, so that usage must be complete first. */
  readonly closes: boolean
  /** Whether the grace period of any is over, so that it may become FINAL. */
  readonly issues: boolean
  /** When an invoice that does not exist yet is due; null when there is none. */
  readonly nextOpensAt: Instant | null
}

const BILLED_STATUSES: readonly string[] = ['ACTIVE', 'CANCELLED']

const NOTHING: BillingPlan = { keys: [], moving: 0, closes: false, issues: false, nextOpensAt: null }

/**
 * The invoices that a run processes: every period that has started and is not closed, and rows whose period no longer
 * exists.
 */
export function planBilling(inputs: BillingInputs, rows: readonly SubscriptionInvoice[], now: Instant): BillingPlan {
  if (!BILLED_STATUSES.includes(inputs.subscription.status)) return NOTHING
  const byKey = new Map(rows.map(row => [keyOfRow(row), row]))
  const gone = new Set(rows.filter(isOpenEnded).map(keyOfRow))
  const due: { key: string; window: InvoiceWindow; urgency: Urgency }[] = []
  let nextOpensAt: Instant | null = null
  for (const window of invoiceWindows(inputs)) {
    const key = keyOfWindow(window)
    gone.delete(key)
    if (window.opensAt > now) {
      nextOpensAt = window.opensAt
      break
    }
    const row = byKey.get(key) ?? null
    if (row ? isOpenEnded(row) : billsAnything(inputs, rows, window))
      due.push({ key, window, urgency: urgencyOf(row, openUntilOf(inputs, window), now) })
  }
  const of = (urgency: Urgency): string[] => due.filter(each => each.urgency === urgency).map(({ key }) => key)
  const moving = [...of('MOVE'), ...gone]
  // A run processes a limited number of invoices: refreshing figures must not keep a period from being opened, closed
  // or made FINAL.
  const keys = [...moving, ...of('FINALIZE'), ...of('REFRESH')]
  return {
    keys,
    moving: moving.length,
    closes: due.some(({ window }) => window.cutoffAt <= now),
    issues: due.some(each => mayClose({ inputs, rows }, each, now)),
    nextOpensAt,
  }
}

type Urgency = 'MOVE' | 'FINALIZE' | 'REFRESH'

function urgencyOf(row: SubscriptionInvoice | null, isOpenUntil: Instant, now: Instant): Urgency {
  if (row === null) return 'MOVE'
  if (row.status === 'OPEN') return isOpenUntil <= now ? 'MOVE' : 'REFRESH'
  return row.finalize_at !== null && at(row.finalize_at) <= now ? 'FINALIZE' : 'REFRESH'
}

/**
 * The first invoice exists only when something is billed in advance from the start; every other collects a period,
 * whatever its amount.
 */
function billsAnything(inputs: BillingInputs, rows: readonly SubscriptionInvoice[], window: InvoiceWindow): boolean {
  if (window.arrears !== null) return true
  return (
    mayHaveInvoice(rows, window) &&
    chargesOf(
      resolveTerms(inputs),
      window,
      billedElsewhere(rows, { key: keyOfWindow(window), cutoffAt: window.cutoffAt }),
    ).length > 0
  )
}

const HOUR_MS = 3_600_000

/** How stale the figures of an OPEN invoice may become before a run computes them again. */
const REFRESH_MS = HOUR_MS

type Returning = {
  /** Whose settings say how long an invoice stays OPEN. */
  readonly platform: Parameters<typeof openUntil>[0]
  readonly refreshMs?: number | null
}

/** Whether it is a DRAFT past its grace period, which could not become FINAL. */
export const isOverdue = (
  { status, finalize_at }: Pick<SubscriptionInvoice, 'status' | 'finalize_at'>,
  now: Instant,
): boolean => status === 'DRAFT' && finalize_at !== null && at(finalize_at) <= now

/**
 * When the next run is due, given what this run left behind; null when nothing will be due. `refreshMs`: how stale
 * figures may become; null to let them stay until the invoice is no longer OPEN.
 */
export function nextBilling(
  rows: readonly SubscriptionInvoice[],
  nextOpensAt: Instant | null,
  now: Instant,
  { platform, refreshMs = REFRESH_MS }: Returning,
): Instant | null {
  const times = rows.flatMap(row => {
    if (row.status === 'OPEN')
      return [
        Math.min(openUntil(platform, endingOf(row)), refreshMs === null ? Number.POSITIVE_INFINITY : now + refreshMs),
      ]
    // A DRAFT past its grace period could not become FINAL; the missing data may be supplied later.
    if (row.status === 'DRAFT' && row.finalize_at !== null) return [Math.max(at(row.finalize_at), now + 60_000)]
    return []
  })
  if (nextOpensAt !== null) times.push(nextOpensAt)
  return times.length === 0 ? null : instantOf(Math.min(...times))
}
