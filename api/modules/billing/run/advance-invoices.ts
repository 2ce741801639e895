// Moves the invoices of one subscription as far as they may go now: opened, computed again, closed, made FINAL. Pure:
// it takes what was read and returns what is to be saved, so a group of subscriptions is computed first and saved
// together.
import { isDeepStrictEqual } from 'node:util'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import { graceEnd } from '../../invoices/changes/grace.ts'
import { GONE_PERIOD } from '../../invoices/changes/invoice-change.ts'
import {
  changed,
  finalFault,
  finalized,
  type PendingInvoice,
  unchanged,
} from '../../invoices/changes/pending-invoice.ts'
import { type AvailableFunds, hasPayers, type Payers } from '../../invoices/settlement/funds.ts'
import { isPaidByWallets } from '../../invoices/stored-content.ts'
import { type InvoiceRow, isOpenEnded } from '../../invoices/table.ts'
import { hasLines } from '../../invoices/view.ts'
import type { ClosedUsage, Closing } from '../late/closed-usage.ts'
import { type ChangedUnit, lateChargesOf } from '../late/late-charges.ts'
import { type Pin, pinnedRequest } from '../pinned/pinned.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import type { ReadUsage } from '../usage/usage-reader.ts'
import type { Issue } from './combined/issue.ts'
import { type Computed, type ComputingRun, computedInvoice, computedOf } from './computed-invoice.ts'
import { fundsRequest } from './funds-request.ts'
import { openUntilOf } from './open-until.ts'
import { basisOf, type InvoiceBasis } from './state/invoice-basis.ts'
import { keyOfRow, type SubscriptionInvoice, withInvoice } from './state/subscription-invoices.ts'
import type { SubscriptionState } from './state/subscription-state.ts'

/**
 * An invoice of this run. `window` is null when the subscription no longer has the period; `closes`: it may close now.
 */
export type Target = {
  readonly key: string
  readonly window: InvoiceWindow | null
  readonly closes: boolean
  /** When it becomes FINAL, where that follows from the invoices that are issued with it. */
  readonly finalizeAt?: Instant
  /** A DRAFT that has not changed since it was stored. Its usage was not read. */
  readonly isUnchanged?: true
}

export type Advance = {
  readonly tenant: Tenant
  readonly now: Instant
  readonly state: SubscriptionState
  readonly terms: readonly PriceTerm[]
  readonly targets: readonly Target[]
  readonly closed: readonly ClosedUsage[]
  /** Closed units with late usage. */
  readonly late: readonly ChangedUnit[]
  readonly usage: ReadUsage
  /** An invoice that closes counts exactly the events up to these positions. */
  readonly positions: readonly number[]
  /** Everything accepted before this instant is in `usage`; null where that is not known. */
  readonly countedUntil: Instant | null
  /** Whether usage up to now can be read; if not, nothing closes. */
  readonly complete: boolean
  /** The invoices that are OPEN or DRAFT, by id. */
  readonly open: ReadonlyMap<string, InvoiceRow>
  /** The wallets that can pay them. */
  readonly funds: AvailableFunds
  /** Lines that users added to them, by invoice id. */
  readonly added: ReadonlyMap<string, readonly AddedLine[]>
}

export type Advanced = {
  /** The invoices of this run, each once. */
  readonly pending: readonly PendingInvoice[]
  readonly closings: readonly Closing[]
  /** The pins of invoices that become FINAL. */
  readonly pins: readonly Pin[]
  /** Those that become FINAL and may be issued together with others. */
  readonly issues: readonly Issue[]
  /** Whether charges granted something that invoices of this run could not spend yet: they are computed again at once. */
  readonly granted: boolean
  /** The invoices that hold periods after this run, by their cutoff. */
  readonly rows: readonly SubscriptionInvoice[]
}

/** Whether the grace period is over; for an invoice that is created now, whether it would be over. */
export function mayClose(
  { inputs, rows }: Pick<SubscriptionState, 'inputs' | 'rows'>,
  { key, window }: Pick<Target, 'key' | 'window'>,
  now: Instant,
): boolean {
  if (!window || window.cutoffAt > now) return false
  const row = rows.find(each => keyOfRow(each) === key)
  if (row?.status !== 'DRAFT') return graceEnd(inputs.platform, openUntilOf(inputs, window)) <= now
  return !row.on_hold && row.finalize_at !== null && at(row.finalize_at) <= now
}

/** Throws INVALID_OPERATION when a price cannot be billed. */
export function advanceInvoices(of: Advance): Advanced {
  const steps = advancingInvoices(of)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same in steps, one for each target, in their order: gives the invoice of each; null where there is rightly none. */
export function* advancingInvoices(of: Advance): Generator<PendingInvoice | null, Advanced> {
  const pending: PendingInvoice[] = []
  const closings: Closing[] = []
  const pins: Pin[] = []
  const issues: Issue[] = []
  let rows = [...of.state.rows]
  let late = of.late
  let granted = false
  for (const target of of.targets) {
    const step = advanceOne(of, { target, rows, late, granted })
    if (step) {
      pending.push(step.pending)
      granted ||= grantsAnew(step.pending, of.now)
      rows = withInvoice(rows, step.pending)
      if (step.pin) pins.push(step.pin)
      if (step.issue?.inputs.subscription.combine) issues.push(step.issue)
      if (step.closing) closings.push(step.closing)
      // The first invoice that takes late usage takes all of it, so when it closes the next ones get none.
      if (step.closing && step.billsLateUsage) late = []
    }
    yield step?.pending ?? null
  }
  return { pending, closings, pins, issues, granted, rows }
}

/** Whether saving it grants something that its stored state had not granted. */
function grantsAnew({ stored, row }: PendingInvoice, now: Instant): boolean {
  if (row.status === 'VOID' || row === stored) return false
  const started = (of: InvoiceRow, until: Instant): unknown => of.grants.filter(grant => at(grant.start_at) <= until)
  const before = stored === null ? [] : started(stored, at(stored.updated_at))
  return row.grants.length > 0 && !isDeepStrictEqual(started(row, now), before)
}

type Step = {
  readonly target: Target
  readonly rows: readonly SubscriptionInvoice[]
  readonly late: readonly ChangedUnit[]
  /** Whether an invoice before it granted something. */
  readonly granted: boolean
}
type Stepped = {
  readonly pending: PendingInvoice
  readonly closing: Closing | null
  readonly pin: Pin | null
  readonly issue?: Issue
  readonly billsLateUsage: boolean
}

/** Moves one invoice as far as it may go now. Null when there is rightly no invoice. */
function advanceOne(of: Advance, { target, rows, late: found, granted }: Step): Stepped | null {
  const { now, state, complete } = of
  const { inputs } = state
  const { key, window } = target
  const outline = rows.find(row => keyOfRow(row) === key)
  const row = outline === undefined ? null : of.open.get(outline.id)
  if (row === undefined) throw new Error(`the invoice ${outline?.id} was not read`)
  const only = (pending: PendingInvoice): Stepped => ({ pending, closing: null, pin: null, billsLateUsage: false })
  if (row && !isOpenEnded(row)) return only(unchanged(row))
  if (!window) return row ? only(changed(unchanged(row), now, GONE_PERIOD)) : null
  if (inputs.subscription.status !== 'ACTIVE' && inputs.subscription.status !== 'CANCELLED')
    return row ? only(unchanged(row)) : null
  // The opening invoice collects no usage, and is made with the invoice of the first period or never.
  const collects = window.arrears !== null
  if (collects && window.cutoffAt <= now && !complete) return row ? only(unchanged(row)) : null
  const basis = basisOf(of, { key, window, rows })
  const { billed, deducted, hasLate, refunds, inputsHash } = basis
  const request = fundsRequest(inputs, { window, invoiceId: row?.id ?? null })
  const payers = of.funds.payers(request)
  if (target.isUnchanged) return only(countedFurther(of, row, { basis, payers }))
  const late = hasLate ? lateChargesOf(found, key) : []
  const added = (row && of.added.get(row.id)) ?? []
  const read = { mayLackRates: true as const, ...of.usage }
  const given = { terms: of.terms, window, billed, deducted, ...read, late, refunds, ...payers, added }
  const asOf = (finalizedAt: Instant | null): InvoiceRequest => ({ finalizedAt, ...given })
  const price = (finalizedAt: Instant | null): PricedInvoice => priceInvoice(inputs, asOf(finalizedAt))
  const counted = price(null)
  const run = { ...of, inputs }
  const saved = computedInvoice(run, { row, counted, inputsHash, finalizeAt: target.finalizeAt })
  of.funds.take({ ...request, invoiceId: saved.row.id }, counted.columns.content)
  // An invoice whose period ended only now is closed by the next run, which reads exactly what it counts.
  // One that may spend what this run grants is closed by the next run, which knows it.
  const mayGrantMore = granted || grantsAnew(saved, now)
  if (!target.closes || mayGrantMore || !mayIssue(saved.row, counted, now))
    return { ...only(saved), billsLateUsage: hasLate }
  const closing = ({ counted: charges }: PricedInvoice): Closing => ({
    inputs,
    invoiceId: saved.row.id,
    positions: of.positions,
    charges,
  })
  // An invoice that bills nothing takes no number; its row is kept, so that its period is not billed again.
  if (!hasLines(counted.columns.content)) {
    const archived = changed(saved, now, { status: 'ARCHIVED', finalize_at: null })
    return { pending: archived, closing: closing(counted), pin: null, billsLateUsage: hasLate }
  }
  const last = lastOf(counted, price, now)
  if (finalFault(last.columns, now) !== null) {
    const columns = { ...counted.columns, content: waiting(counted, last) }
    const { finalizeAt } = target
    const waits = stays(run, saved, { row, counted: { ...counted, columns }, inputsHash, finalizeAt })
    return { ...only(waits), billsLateUsage: hasLate }
  }
  const pending = finalized(saved, now, computedOf(of, { counted: last, inputsHash }))
  const pin = { invoiceId: saved.row.id, inputs, request: pinnedRequest(asOf(now)) }
  const issue = { inputs, request: asOf(now), draft: saved, final: pending }
  return { pending, closing: closing(last), pin, billsLateUsage: hasLate, issue }
}

/** Priced again only where the date of the invoice is the moment it becomes FINAL. */
const lastOf = (counted: PricedInvoice, price: (finalizedAt: Instant) => PricedInvoice, now: Instant): PricedInvoice =>
  counted.columns.invoice_date === null ? price(now) : counted

/** Whether its grace period is over, and nothing that it lacks keeps it from being issued. */
const mayIssue = (row: InvoiceRow, { columns }: PricedInvoice, now: Instant): boolean =>
  isDue(row, now) && finalFault(columns, now) === null

/** What decides the tax of today is not known: the invoice stays as it was counted, and says what it waits for. */
function waiting(counted: PricedInvoice, last: PricedInvoice): PricedInvoice['columns']['content'] {
  const { validation_result, tax_question } = last.columns.content
  return { ...counted.columns.content, validation_result, ...(tax_question ? { tax_question } : {}) }
}

/** As one change of what is stored, so that a run which finds the same again emits nothing. */
const stays = (run: ComputingRun, saved: PendingInvoice, waits: Computed): PendingInvoice =>
  waits.row === null ? changed(saved, run.now, { content: waits.counted.columns.content }) : computedInvoice(run, waits)

/** Whether its grace period is over. */
const isDue = ({ status, on_hold, finalize_at }: InvoiceRow, now: Instant): boolean =>
  status === 'DRAFT' && !on_hold && finalize_at !== null && at(finalize_at) <= now

/** A DRAFT that was to stay as it is changed while the group was prepared: it has to be computed. */
export const CHANGED_MEANWHILE = new Error('the invoice changed since it was prepared')

/** The same DRAFT, with its usage counted up to now. Throws CHANGED_MEANWHILE where it has to be computed after all. */
function countedFurther(
  { now, countedUntil }: Pick<Advance, 'now' | 'countedUntil'>,
  row: InvoiceRow | null,
  { basis, payers }: { readonly basis: InvoiceBasis; readonly payers: Payers },
): PendingInvoice {
  const isSame = row?.status === 'DRAFT' && row.inputs_hash === basis.inputsHash && row.grants.length === 0
  const isPaid = row !== null && (isPaidByWallets(row.content) || hasPayers(payers))
  if (!isSame || isPaid || countedUntil === null) throw CHANGED_MEANWHILE
  // Null where nothing is metered.
  if (row.usage_counted_until === null) return unchanged(row)
  return changed(unchanged(row), now, { usage_counted_until: formatInstant(countedUntil) })
}
