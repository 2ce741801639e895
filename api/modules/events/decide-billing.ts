// Whether an event is billed, or why not. Pure: what is known of its customer, plans and invoices in, the decision out.
import type { Instant, Interval } from '../../../shared/time.ts'

/** Why no invoice has, or will have, the event (semantics 1.2). */
export type NotMatchedVariant =
  | 'CUSTOMER_NOT_FOUND'
  | 'CUSTOMER_NOT_ACTIVE'
  | 'NO_SUBSCRIPTION'
  | 'NO_PRICING'
  | 'INVOICE_FINAL'

export type BillingDecision =
  | { readonly type: 'DEFAULT' }
  | { readonly type: 'NOT_MATCHED'; readonly variant: NotMatchedVariant }

/** A time in which one plan version holds for the customer; `end` null means for good. */
export type Coverage = {
  readonly start: Instant
  readonly end: Instant | null
  /** Whether the version prices a calculation of the event's meter. */
  readonly pricesMeter: boolean
  /** FINAL invoices that collect this usage, and nothing after them does. */
  readonly finalInvoices: readonly FinalInvoice[]
}
export type FinalInvoice = {
  readonly period: Interval
  /** The whole second in which it went FINAL. */
  readonly finalAt: Instant
}

export type BillingFacts = {
  readonly timestamp: Instant
  readonly receivedAt: Instant
  /** Null when no customer has the id or reference that the event carries. */
  readonly customer: { readonly active: boolean } | null
  /** The ACTIVE schedules of the customer's subscriptions that were activated, up to their cancellation. */
  readonly coverage: readonly Coverage[]
}

/** Within the second in which an invoice went FINAL nobody can tell what came first. */
const SECOND_MS = 1_000

/**
 * The decision for one event. A plan that prices the meter bills the event whatever has become of the customer's status
 * since, so the status is a reason only where no plan does.
 */
export function decideBilling(facts: BillingFacts): BillingDecision {
  const { customer, timestamp } = facts
  if (customer === null) return notMatched('CUSTOMER_NOT_FOUND')
  const covering = facts.coverage.filter(({ start, end }) => start <= timestamp && (end === null || timestamp < end))
  const pricing = covering.find(({ pricesMeter }) => pricesMeter)
  if (pricing) return isLate(facts, pricing) ? notMatched('INVOICE_FINAL') : { type: 'DEFAULT' }
  if (!customer.active) return notMatched('CUSTOMER_NOT_ACTIVE')
  return notMatched(covering.length > 0 ? 'NO_PRICING' : 'NO_SUBSCRIPTION')
}

const notMatched = (variant: NotMatchedVariant): BillingDecision => ({ type: 'NOT_MATCHED', variant })

const isLate = ({ timestamp, receivedAt }: BillingFacts, { finalInvoices }: Coverage): boolean =>
  finalInvoices.some(
    ({ period, finalAt }) => period.start <= timestamp && timestamp < period.end && receivedAt >= finalAt + SECOND_MS,
  )
