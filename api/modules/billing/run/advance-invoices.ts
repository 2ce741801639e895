// Moves the invoices of one subscription as far as they may go now: opened, computed again, closed, made FINAL. Pure:
// it takes what was read and returns what is to be saved, so a group of subscriptions is computed first and saved
// together.
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import type { AddedLine } from '../../invoices/added-lines/price-added-line.ts'
import { graceEnd, openUntil } from '../../invoices/changes/grace.ts'
import { GONE_PERIOD } from '../../invoices/changes/invoice-change.ts'
import {
  changed,
  created,
  finalFault,
  finalized,
  type PendingInvoice,
  unchanged,
} from '../../invoices/changes/pending-invoice.ts'
import { type ComputedInvoice, storedColumns } from '../../invoices/producer.ts'
import type { NewInvoice } from '../../invoices/repository.ts'
import type { FundsRequest, Purse } from '../../invoices/settlement/funds.ts'
import { type InvoiceRow, type InvoiceStatus, isOpenEnded, UNTOUCHED } from '../../invoices/table.ts'
import { hasLines } from '../../invoices/view.ts'
import { type ClosedUsage, type Closing, takesLate } from '../late/closed-usage.ts'
import { lateChargesOf, type TouchedUnit } from '../late/late-charges.ts'
import { type Pin, pinnedRequest } from '../pinned/pinned.ts'
import { type Deducted, deductedIn } from '../pricing/deducted.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { advanceChargesIn } from '../pricing/period-columns.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import { type Refund, refundsIn, refundsText, refundTimes } from '../refunds/refunds.ts'
import { type BillingInputs, usingCustomer } from '../terms/billing-inputs.ts'
import { billingTypeOf } from '../terms/billing-type.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { type InvoiceWindow, periodOf } from '../terms/windows.ts'
import type { ReadUsage } from '../usage/usage-reader.ts'
import type { Issue } from './combined/issue.ts'
import { deductedBefore } from './deducted-before.ts'
import { endingOf, openUntilOf } from './open-until.ts'
import {
  billedElsewhere,
  keyOfRow,
  periodColumnsOf,
  SUBSCRIPTION_BILLING,
  type SubscriptionInvoice,
  takesLateUsage,
} from './subscription-invoices.ts'
import type { SubscriptionState } from './subscription-state.ts'

/**
 * An invoice of this run. `window` is null when the subscription no longer has the period; `closes`: it may close now.
 */
export type Target = {
  readonly key: string
  readonly window: InvoiceWindow | null
  readonly closes: boolean
  /** When it becomes FINAL, where that follows from the invoices that are issued with it. */
  readonly finalizeAt?: Instant
}

export type Advance = {
  readonly tenant: Tenant
  readonly now: Instant
  readonly state: SubscriptionState
  readonly terms: readonly PriceTerm[]
  readonly targets: readonly Target[]
  readonly closed: readonly ClosedUsage[]
  /** Closed units with late usage. */
  readonly late: readonly TouchedUnit[]
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
  readonly purse: Purse
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
  const pending: PendingInvoice[] = []
  const closings: Closing[] = []
  const pins: Pin[] = []
  const issues: Issue[] = []
  let rows = [...of.state.rows]
  let late = of.late
  let granted = false
  for (const target of of.targets) {
    const step = advanceOne(of, { target, rows, late, granted })
    if (!step) continue
    pending.push(step.pending)
    granted ||= grantsAnew(step.pending, of.now)
    rows = withInvoice(rows, step.pending)
    if (step.pin) pins.push(step.pin)
    if (step.issue?.inputs.subscription.combine) issues.push(step.issue)
    if (!step.closing) continue
    closings.push(step.closing)
    // Late usage goes on the first invoice that may take it; once that invoice is closed, no late usage is left.
    if (step.takesLate) late = []
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
  readonly late: readonly TouchedUnit[]
  /** Whether an invoice before it granted something. */
  readonly granted: boolean
}
type Stepped = {
  readonly pending: PendingInvoice
  readonly closing: Closing | null
  readonly pin: Pin | null
  readonly issue?: Issue
  readonly takesLate: boolean
}

/** Moves one invoice as far as it may go now. Null when there is rightly no invoice. */
function advanceOne(of: Advance, { target, rows, late: found, granted }: Step): Stepped | null {
  const { now, state, complete } = of
  const { inputs } = state
  const { key, window } = target
  const outline = rows.find(row => keyOfRow(row) === key)
  const row = outline === undefined ? null : of.open.get(outline.id)
  if (row === undefined) throw new Error(`the invoice ${outline?.id} was not read`)
  const only = (pending: PendingInvoice): Stepped => ({ pending, closing: null, pin: null, takesLate: false })
  if (row && !isOpenEnded(row)) return only(unchanged(row))
  if (!window) return row ? only(changed(unchanged(row), now, GONE_PERIOD)) : null
  if (inputs.subscription.status !== 'ACTIVE' && inputs.subscription.status !== 'CANCELLED')
    return row ? only(unchanged(row)) : null
  // The opening invoice collects no usage, and is made with the invoice of the first period or never.
  const collects = window.arrears !== null
  if (collects && window.cutoffAt <= now && !complete) return row ? only(unchanged(row)) : null
  const billed = billedElsewhere(rows, { key, cutoffAt: window.cutoffAt })
  const deducted = deductedBefore(inputs, rows, window)
  const hasLate =
    takesLate(inputs.platform.late_event_policy) && takesLateUsage(rows, { key, cutoffAt: window.cutoffAt })
  const late = hasLate ? lateChargesOf(found, key) : []
  const refunds = refundsIn(window, refundTimes(inputs), state.ahead)
  const request = fundsRequest(inputs, { window, invoiceId: row?.id ?? null })
  const payers = of.purse.payers(request)
  const added = (row && of.added.get(row.id)) ?? []
  const read = { ...of.usage, mayLackRates: true as const }
  const given = { terms: of.terms, window, billed, deducted, ...read, late, refunds, ...payers, added }
  const asOf = (finalizedAt: Instant | null): InvoiceRequest => ({ ...given, finalizedAt })
  const price = (finalizedAt: Instant | null): PricedInvoice => priceInvoice(inputs, asOf(finalizedAt))
  const inputsHash = hashOf(of, { billed, deducted, takesLate: hasLate, refunds })
  const counted = price(null)
  const saved = computed(of, { row, counted, inputsHash, finalizeAt: target.finalizeAt })
  of.purse.take({ ...request, invoiceId: saved.row.id }, counted.columns.content)
  // An invoice whose period ended only now is closed by the next run, which reads exactly what it counts.
  // One that may spend what this run grants is closed by the next run, which knows it.
  const mayGrantMore = granted || grantsAnew(saved, now)
  if (!target.closes || mayGrantMore || !mayIssue(saved.row, counted, now))
    return { ...only(saved), takesLate: hasLate }
  const closing = ({ counted: charges }: PricedInvoice): Closing => ({
    inputs,
    invoiceId: saved.row.id,
    positions: of.positions,
    charges,
  })
  // An invoice that bills nothing takes no number; its row is kept, so that its period is not billed again.
  if (!hasLines(counted.columns.content)) {
    const archived = changed(saved, now, { status: 'ARCHIVED', finalize_at: null })
    return { pending: archived, closing: closing(counted), pin: null, takesLate: hasLate }
  }
  const last = lastOf(counted, price, now)
  if (finalFault(last.columns, now) !== null) {
    const columns = { ...counted.columns, content: waiting(counted, last) }
    const { finalizeAt } = target
    const waits = stays(of, saved, { row, counted: { ...counted, columns }, inputsHash, finalizeAt })
    return { ...only(waits), takesLate: hasLate }
  }
  const pending = finalized(saved, now, computedOf(of, last, inputsHash))
  const pin = { invoiceId: saved.row.id, inputs, request: pinnedRequest(asOf(now)) }
  const issue = { inputs, request: asOf(now), draft: saved, final: pending }
  return { pending, closing: closing(last), pin, takesLate: hasLate, issue }
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
const stays = (of: Advance, saved: PendingInvoice, waits: Computed): PendingInvoice =>
  waits.row === null ? changed(saved, of.now, { content: waits.counted.columns.content }) : computed(of, waits)

/** Whether its grace period is over. */
const isDue = ({ status, on_hold, finalize_at }: InvoiceRow, now: Instant): boolean =>
  status === 'DRAFT' && !on_hold && finalize_at !== null && at(finalize_at) <= now

/** The customers whose rows are held while an invoice is saved: who gets it, and whose usage it bills. */
export const heldFor = (inputs: BillingInputs): Id<'cust'>[] =>
  [...new Set([inputs.customer.id, usingCustomer(inputs).id])].map(id => idOf('cust', id))

/** What an invoice for a window needs from a purse. */
export const fundsRequest = (
  inputs: BillingInputs,
  { window, invoiceId }: { readonly window: InvoiceWindow; readonly invoiceId: string | null },
): FundsRequest => ({
  customerId: inputs.customer.id,
  currency: inputs.subscription.billing_currency,
  invoiceId,
  service: periodOf(window),
  billingType: billingTypeOf(inputs),
})

type Computed = {
  readonly row: InvoiceRow | null
  readonly counted: PricedInvoice
  readonly inputsHash: string
  readonly finalizeAt: Instant | undefined
}

const computedOf = ({ countedUntil }: Advance, counted: PricedInvoice, inputsHash: string): ComputedInvoice => ({
  columns: counted.columns,
  lines: counted.lines,
  grants: counted.grants,
  inputsHash,
  usageCountedUntil: counted.counted.length > 0 ? countedUntil : null,
})

/** One that could be computed waits for no other. */
const NOT_WAITING = { combine_fault: null, combine_fault_at: null }

function computed(advance: Advance, of: Computed): PendingInvoice {
  const {
    tenant,
    now,
    state: { inputs },
  } = advance
  const { row, inputsHash } = of
  const { columns, lines } = of.counted
  const stored = storedColumns(computedOf(advance, of.counted, inputsHash))
  // A DRAFT is not OPEN again because the extra open period became longer: its grace period runs, and people work on it.
  const isOpenUntil = row?.status === 'DRAFT' ? at(columns.cutoff_at) : openUntil(inputs.platform, endingOf(columns))
  const status: InvoiceStatus = isOpenUntil <= now ? 'DRAFT' : 'OPEN'
  const closesAt = (): string =>
    of.finalizeAt === undefined ? closingTime(of, { platform: inputs.platform, now }) : formatInstant(of.finalizeAt)
  if (row) {
    const moves = row.status === 'OPEN' || of.finalizeAt !== undefined
    const finalizeAt = status === 'DRAFT' && moves && !row.on_hold ? closesAt() : row.finalize_at
    const values = { ...stored, status, finalize_at: status === 'OPEN' ? null : finalizeAt, ...NOT_WAITING }
    return changed(unchanged(row), now, values, lines)
  }
  const onHold = inputs.subscription.init_invoice_on_hold
  const values: NewInvoice = {
    ...UNTOUCHED,
    ...stored,
    invoice_number: null,
    status,
    producer: SUBSCRIPTION_BILLING,
    type: 'STANDARD',
    billing_type: billingTypeOf(inputs),
    customer_id: idOf('cust', inputs.customer.id),
    billing_entity_id: idOf('bill', inputs.billing_entity.id),
    pricing_plan_subscription_id: idOf('ppsu', inputs.subscription.id),
    on_hold: onHold,
    payment_status: 'UNPAID',
    finalize_at: status === 'DRAFT' && !onHold ? closesAt() : null,
    updated_to_final_at: null,
    to_be_reprocessed_at: null,
  }
  return created({ tenant, now }, values, lines)
}

/** The grace period runs from when the invoice is no longer OPEN, or from the creation of the invoice when that is later. */
function closingTime(
  { row, counted }: Pick<Computed, 'row' | 'counted'>,
  { platform, now }: { readonly platform: Parameters<typeof graceEnd>[0]; readonly now: Instant },
): string {
  const made = row ? at(row.created_at) : now
  return formatInstant(graceEnd(platform, instantOf(Math.max(openUntil(platform, endingOf(counted.columns)), made))))
}

/** A hash of everything that the invoice is computed from, except usage. */
const hashOf = (
  { state, closed }: Pick<Advance, 'state' | 'closed'>,
  of: Pick<InvoiceHashed, 'billed' | 'deducted' | 'refunds'> & { readonly takesLate: boolean },
): string => invoiceHashOf(state.inputsHash, { ...of, closed: of.takesLate ? closed : null })

type InvoiceHashed = {
  readonly billed: ReadonlySet<string>
  readonly deducted: readonly Deducted[]
  readonly closed: readonly ClosedUsage[] | null
  readonly refunds: readonly Refund[]
}

const deductedText = (deducted: readonly Deducted[]): string =>
  deducted.length === 0 ? '' : ` ${JSON.stringify(deducted)}`

/**
 * The hash stored with an invoice: its inputs, what other invoices bill in advance, the closed usage when late usage
 * goes on it, and its refunds.
 */
export function invoiceHashOf(inputsHash: string, of: InvoiceHashed): string {
  const before = (of.closed ?? []).map(each => each.invoice_id)
  return hash(
    'sha256',
    `${inputsHash} ${[...of.billed].sort().join(' ')} ${of.closed !== null} ${before.join(' ')}${refundsText(of.refunds)}${deductedText(of.deducted)}`,
  )
}

/** The rows with this invoice as it is now, by cutoff; an invoice that no longer holds its period is left out. */
function withInvoice(rows: readonly SubscriptionInvoice[], { row, lines }: PendingInvoice): SubscriptionInvoice[] {
  const { content: _printed, grants: _granted, custom_fields: _fields, ...outline } = row
  const before = rows.find(({ id }) => id === row.id)
  const advance_charges = lines === null ? (before?.advance_charges ?? []) : advanceChargesIn(lines)
  const others = rows.filter(({ id }) => id !== row.id)
  if (!row.holds_period) return others
  const deducted = lines === null ? (before?.deducted ?? []) : deductedIn(row.id, lines)
  const taken = deducted.length === 0 ? {} : { deducted }
  const next = { ...outline, ...periodColumnsOf(outline), advance_charges, ...taken }
  return [...others, next].sort((a, b) => at(a.cutoff_at) - at(b.cutoff_at) || (a.id < b.id ? -1 : 1))
}
