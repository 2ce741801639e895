// A FINAL invoice priced again as if its customer had been on another version of the plan, after the simulated invoices
// before it. It counts the same events: those up to the same positions of the log. Pure.
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import type { ConditionNamesInput } from '../../catalog/conditions/load-names.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import type { ClosedUsage } from '../late/closed-usage.ts'
import type { LateCharge } from '../late/late-usage.ts'
import type { Pin } from '../pinned/pinned.ts'
import { type Deducted, deductedIn } from '../pricing/deducted.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type InvoiceFigures, priceFigures } from '../pricing/price-invoice.ts'
import { scheduleOfClause } from '../rating/clauses-of.ts'
import { advanceChargesOf } from '../refunds/advance-charges.ts'
import { type AdvanceCharge, type Refund, refundsIn, refundTimes, withRefunded } from '../refunds/refunds.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import type { InvoiceWindow } from '../terms/windows.ts'
import type { ReadUsage } from '../usage/usage-reader.ts'
import { pinnedLate } from '../why/pinned-late.ts'
import { type Candidate, switchedSchedules, withCandidate } from './candidate.ts'

/** A FINAL invoice for a period of a subscription, with what it was priced from. */
export type ClosedInvoice = Omit<Pin, 'invoiceId'> & {
  readonly invoiceId: string
  /** For each partition of the log, the position up to which it counted. */
  readonly positions: readonly number[]
  /** The customer keys of events that it could count. */
  readonly customerKeys: readonly string[]
  readonly namesHash: string | null
}

/** What the simulated invoices of a subscription have billed so far. */
export type SimulatedSoFar = {
  /** The invoices of the simulation, also those to come. */
  readonly invoiceIds: ReadonlySet<string>
  readonly closed: readonly ClosedUsage[]
  readonly ahead: readonly AdvanceCharge[]
  readonly deducted: readonly Deducted[]
}

export const nothingSimulated = (invoiceIds: ReadonlySet<string>): SimulatedSoFar => ({
  invoiceIds,
  closed: [],
  ahead: [],
  deducted: [],
})

/** An invoice that is about to be simulated: everything but its usage, and what is late of the invoices before it. */
export type SimulatedPlan = {
  readonly invoice: ClosedInvoice
  readonly inputs: BillingInputs
  readonly terms: readonly PriceTerm[]
  readonly billed: ReadonlySet<string>
  readonly deducted: readonly Deducted[]
  readonly refunds: readonly Refund[]
  /** Late usage that the invoice billed for time that is not simulated: it stays at the prices of its time. */
  readonly late: readonly LateCharge[]
  /** Earlier simulated invoices. Their late usage is billed on this one. */
  readonly closed: readonly ClosedUsage[]
}

/** `names`: what conditions named when invoices were closed, by hash. */
export function planSimulated(
  invoice: ClosedInvoice,
  candidate: Candidate,
  of: { readonly soFar: SimulatedSoFar; readonly names: ReadonlyMap<string, ConditionNamesInput> },
): SimulatedPlan {
  const { soFar, names } = of
  const { request } = invoice
  const switched = switchedSchedules(invoice.inputs, candidate)
  const inputs = withCandidate(invoice.inputs, candidate)
  const before = resolveTerms(invoice.inputs)
  const own = switched.size === 0 ? before : resolveTerms(inputs)
  const isReplaced = (scheduleId: string, invoiceId: string): boolean =>
    switched.has(scheduleId) && soFar.invoiceIds.has(invoiceId)
  const key = String(request.window.cutoffAt)
  const units = request.late.filter(({ last, invoiceId }) => !isReplaced(last.schedule_id, invoiceId))
  const late = pinnedLate(units, { inputs: invoice.inputs, terms: before, names, key })
  const kept = request.refunds.filter(({ charged }) => !isReplaced(charged.scheduleId, charged.invoiceId))
  const ahead = soFar.ahead.filter(({ scheduleId }) => switched.has(scheduleId))
  const made = refundsIn(request.window, refundTimes(inputs), ahead)
  const again = request.refunds.some(({ charged }) => !charged.tax) ? made.map(ofOwnDay) : made
  const isOfCandidate = ({ schedule }: PriceTerm): boolean => switched.has(schedule.id)
  const deducted = [
    ...(request.deducted ?? []).filter(({ clause, invoiceId }) => !isReplaced(scheduleOfClause(clause), invoiceId)),
    ...soFar.deducted.filter(({ clause }) => switched.has(scheduleOfClause(clause))),
  ]
  const billsLateUsage = switched.size > 0 && inputs.platform.late_event_policy === 'NEXT_INVOICE'
  return {
    invoice,
    inputs,
    terms: [...own, ...refundedOnly(before, { own, refunds: kept })],
    billed: billedElsewhere({ before, own: own.filter(isOfCandidate), request }),
    deducted,
    refunds: [...kept, ...again],
    late,
    closed: billsLateUsage ? wholeUnits(soFar.closed, switched) : [],
  }
}

/** An invoice that is older than the rule that a refund carries the tax of its fee has the tax of its own day for it. */
const ofOwnDay = ({ charged: { tax: _tax, ...charged }, from }: Refund): Refund => ({ charged, from })

/**
 * What these schedules were charged over pricing periods that the simulation bills from their beginning on. The rest of
 * any other was billed by invoices that are not simulated, and so is its late usage.
 */
function wholeUnits(closed: readonly ClosedUsage[], schedules: ReadonlySet<string>): ClosedUsage[] {
  const begun = new Set(
    closed.flatMap(({ charges }) =>
      charges.flatMap(({ unit, service: [start] }) => (unit.endsWith(formatInstant(instantOf(start))) ? [unit] : [])),
    ),
  )
  return closed.map(each => ({
    ...each,
    charges: each.charges.filter(({ unit, schedule_id }) => schedules.has(schedule_id) && begun.has(unit)),
  }))
}

type Asked = { readonly window: InvoiceWindow; readonly billed: ReadonlySet<string> }

/**
 * The keys of advance charges that other invoices bill. The candidate has charges of its own: an earlier invoice bills
 * those that start before the cutoff, as it did for the prices in their place; only a rise of seats, and a schedule that
 * was added to a running period, are billed later.
 */
function billedElsewhere(of: {
  readonly before: readonly PriceTerm[]
  readonly own: readonly PriceTerm[]
  readonly request: Asked
}): ReadonlySet<string> {
  const { before, own, request } = of
  if (own.length === 0) return request.billed
  const { window, billed } = request
  const cell = ({ schedule, service }: Charge): string => `${schedule.id} ${service.start}`
  const isAhead = ({ inAdvance, service }: Charge): boolean => inAdvance && service.start < window.cutoffAt
  const here = new Set(chargesOf(before, window, billed).filter(isAhead).map(cell))
  // Also what was paid ahead for the collected period: it counts towards the commitment for that time.
  const scanned = [window, ...(window.arrears ? [{ ...window, arrears: null, advance: window.arrears }] : [])]
  const keys = scanned.flatMap(each =>
    chargesOf(
      own,
      { ...each, cutoffAt: each.arrears === null ? (each.advance?.start ?? each.cutoffAt) : each.cutoffAt },
      new Set(),
    )
      .filter(charge => isAhead(charge) && !charge.seats?.before && !here.has(cell(charge)))
      .map(charge => charge.key),
  )
  return new Set([...billed, ...keys])
}

/** The prices whose earlier charges are refunded and that the simulation replaces: they charge nothing any more. */
function refundedOnly(
  before: readonly PriceTerm[],
  { own, refunds }: { readonly own: readonly PriceTerm[]; readonly refunds: readonly Refund[] },
): PriceTerm[] {
  const ids = new Set(refunds.map(({ charged }) => charged.configId))
  const known = new Set(own.map(({ config }) => config.id))
  return before
    .filter(({ config }) => ids.has(config.id) && !known.has(config.id))
    .map(term => ({ ...term, calendar: null }))
}

/** Everything that the invoice charges, which says what usage it needs. */
export const chargesOfSimulated = (
  { terms, invoice, billed }: SimulatedPlan,
  late: readonly LateCharge[],
): Charge[] => [...chargesOf(terms, invoice.request.window, billed), ...late.map(({ charge }) => charge)]

/** Throws INVALID_OPERATION when the candidate cannot be billed to this customer. */
export function priceSimulated(
  plan: SimulatedPlan,
  { late, usage }: { readonly late: readonly LateCharge[]; readonly usage: ReadUsage },
): InvoiceFigures {
  const { invoice, inputs, terms, billed, deducted, refunds } = plan
  const request: InvoiceRequest = { ...invoice.request, terms, billed, deducted, refunds, late, ...usage }
  const figures = priceFigures(inputs, request)
  if (figures.lacksTax) throw new AppError('INVALID_OPERATION', LACKS_TAX)
  return figures
}

const LACKS_TAX =
  'The prices include tax, and the tax engine was not asked what tax applies when the invoice became FINAL, so its amounts without tax are not known.'

/** What is billed once this invoice is simulated as well. */
export function afterSimulated(
  soFar: SimulatedSoFar,
  { invoice, inputs, refunds }: SimulatedPlan,
  priced: InvoiceFigures,
): SimulatedSoFar {
  const { invoiceId, positions, customerKeys, namesHash } = invoice
  const closed: ClosedUsage = {
    invoice_id: invoiceId,
    subscription_id: inputs.subscription.id,
    positions,
    customer_keys: customerKeys,
    names_hash: namesHash,
    charges: priced.counted,
  }
  const ahead = [...withRefunded(soFar.ahead, refunds), ...advanceChargesOf(priced, invoiceId)]
  const deducted = [...soFar.deducted, ...deductedIn(invoiceId, priced.lines)]
  return { ...soFar, closed: [...soFar.closed, closed], ahead, deducted }
}
