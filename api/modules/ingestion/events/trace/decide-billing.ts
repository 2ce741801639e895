// Whether an event is billed, or why not. Pure: what is known of the places that could bill it in, the decision out.
import type { Attribution } from '../../../../../shared/attribution/attribute.ts'
import type { Instant, Interval } from '../../../../../shared/time.ts'

/** Why no invoice has, or will have, the event (semantics 1.2). */
export const NOT_MATCHED_VARIANTS = [
  'CUSTOMER_NOT_FOUND',
  'CUSTOMER_NOT_ACTIVE',
  'NO_SUBSCRIPTION',
  'NO_PRICING',
  'CONDITIONS_NOT_MET',
  'INVOICE_FINAL',
  // A state was recorded for a moment after it in the same period: nothing is counted from before that (persist data).
  'SUPERSEDED_BY_PERSIST_DATA',
  // The event names a subscription that its customer does not have: no one has it, or someone else.
  'SUBSCRIPTION_NOT_FOUND',
  'SUBSCRIPTION_OF_ANOTHER_CUSTOMER',
  // No subscription passes the selector, and its fallback is NONE.
  'SELECTOR_NOT_MATCHED',
] as const
export type NotMatchedVariant = (typeof NOT_MATCHED_VARIANTS)[number]

export type BillingDecision =
  | { readonly type: 'DEFAULT' }
  | { readonly type: 'NOT_MATCHED'; readonly variant: NotMatchedVariant }

export type FinalInvoice = {
  readonly period: Interval
  /** The whole second in which it went FINAL. */
  readonly finalAt: Instant
}

/** What one customer's subscriptions make of the event. */
export type BillingPlace =
  | { readonly kind: 'NONE'; readonly reason: Extract<Attribution, { kind: 'NONE' }>['reason'] | 'CONDITIONS_NOT_MET' }
  /**
   * `replaced`: a state was recorded in its place. `tooLate`: the invoices that collect it were closed without it, and no other
   * bills it. `finalInvoices`: FINAL invoices that collect this usage and of which nobody knows what they counted; nothing after
   * them has it.
   */
  | {
      readonly kind: 'RATED'
      readonly replaced: boolean
      readonly tooLate: boolean
      readonly finalInvoices: readonly FinalInvoice[]
    }

export type BillingFacts = {
  readonly timestamp: Instant
  readonly receivedAt: Instant
  /** Null when no customer has the id or reference that the event carries. */
  readonly customer: { readonly active: boolean } | null
  /** The customer's own place first, then those of its parents that the event is replicated to. */
  readonly places: readonly BillingPlace[]
  /** Whose the subscription is that the event names; OWN also when it names none. */
  readonly named: 'OWN' | 'ANOTHERS' | 'NOBODYS'
}

/** Within the second in which an invoice went FINAL nobody can tell what came first. */
const SECOND_MS = 1_000

/**
 * The decision for one event. A price that rates it bills it whatever has become of the customer's status since, so the
 * status is a reason only where no plan prices its meter.
 */
export function decideBilling(facts: BillingFacts): BillingDecision {
  const { customer, places } = facts
  if (customer === null) return notMatched('CUSTOMER_NOT_FOUND')
  const rated = places.filter(place => place.kind === 'RATED')
  const isBilled = rated.some(
    ({ replaced, tooLate, finalInvoices }) => !replaced && !tooLate && !isLate(facts, finalInvoices),
  )
  if (isBilled) return { type: 'DEFAULT' }
  if (rated.length > 0)
    return notMatched(rated.every(({ replaced }) => replaced) ? 'SUPERSEDED_BY_PERSIST_DATA' : 'INVOICE_FINAL')
  return notMatched(variantOf(facts, customer.active))
}

function variantOf({ places, named }: BillingFacts, active: boolean): NotMatchedVariant {
  // Of a customer that is never billed itself, its nearest parent has the reason.
  const reasons = places.flatMap(place =>
    place.kind === 'NONE' && place.reason !== 'PROCESSING_ONLY' ? place.reason : [],
  )
  let [reason = 'NO_SUBSCRIPTION'] = reasons
  if (reason === 'SUBSCRIPTION_NOT_FOUND') {
    if (named === 'ANOTHERS') return 'SUBSCRIPTION_OF_ANOTHER_CUSTOMER'
    // Its own, and never activated.
    if (named === 'OWN') reason = 'NO_SUBSCRIPTION'
  }
  return !active && (reason === 'NO_SUBSCRIPTION' || reason === 'NO_PRICING') ? 'CUSTOMER_NOT_ACTIVE' : reason
}

const notMatched = (variant: NotMatchedVariant): BillingDecision => ({ type: 'NOT_MATCHED', variant })

const isLate = ({ timestamp, receivedAt }: BillingFacts, invoices: readonly FinalInvoice[]): boolean =>
  invoices.some(
    ({ period, finalAt }) => period.start <= timestamp && timestamp < period.end && receivedAt >= finalAt + SECOND_MS,
  )
