// Which of a customer's subscriptions an event belongs to (semantics 1.3). Pure: billing asks it of all events that say the
// same, the trace of one, so an event is billed by exactly the subscription its trace names.
import type { Instant } from '../time.ts'
import {
  type NamedSubscription,
  namedSubscription,
  type Selector,
  type SelectorComparator,
  type SelectorData,
} from './selector.ts'

/** A time in which a subscription is on one plan version; `end` null means for good. */
export type PlanVersionPeriod = {
  readonly start: Instant
  readonly end: Instant | null
  readonly versionId: string
  /** The version of what the schedule sells besides; absent where it sells nothing besides. */
  readonly ownVersionId?: string
  readonly planReference: string
  /** References of the meters the version prices. */
  readonly meters: ReadonlySet<string>
  /** The pricings that are sold; absent: all of the version. */
  readonly pricingIds?: ReadonlySet<string>
}

export type Candidate = {
  readonly id: string
  readonly reference: string | null
  /** The country of its billing entity when it was activated. */
  readonly billingEntityCountry: string | null
  /** In the order of time; cut where it was cancelled. */
  readonly held: readonly PlanVersionPeriod[]
  /** Whether events it bills are the parent customer's too. */
  readonly replicatesToParent: boolean
}

/** What holds of a customer from an instant on, until the next entry's. */
export type CustomerTerms = {
  readonly from: Instant
  readonly selector: Selector | null
  readonly parentIds: readonly string[]
}

export type AttributedCustomer = {
  readonly id: string
  /** By time, the first from before any event. */
  readonly terms: readonly CustomerTerms[]
  /** It sends events and is never billed: they are its parents'. */
  readonly processingOnly: boolean
  /** It pays for the events of its children, and those of its own are never billed. Absent for any other. */
  readonly nonProcessing?: true
  /** Those that were ever activated. */
  readonly subscriptions: readonly Candidate[]
}

export type AttributedEvent = {
  /** The text of `subscriptionKey`. */
  readonly subscription: string
  readonly meterReference: string
  readonly timestamp: Instant
}

/** What decided; the order of these is the order of the rules. */
export type DecidedBy = 'ID' | 'REFERENCE' | 'EVENT_SELECTOR' | 'CUSTOMER_SELECTOR' | 'ONLY' | 'LATEST'

export type Attribution =
  | {
      readonly kind: 'SUBSCRIPTION'
      readonly subscription: Candidate
      readonly held: PlanVersionPeriod
      readonly by: DecidedBy
    }
  | {
      readonly kind: 'NONE'
      readonly reason:
        | 'PROCESSING_ONLY'
        /** The customer has no subscription of the id or reference the event names. */
        | 'SUBSCRIPTION_NOT_FOUND'
        /** Nothing, or not what the event names, is held at its time. */
        | 'NO_SUBSCRIPTION'
        /** What is held prices other meters. */
        | 'NO_PRICING'
        /** No subscription passes the selector, whose fallback is NONE. */
        | 'SELECTOR_NOT_MATCHED'
    }

const none = (reason: Extract<Attribution, { kind: 'NONE' }>['reason']): Attribution => ({ kind: 'NONE', reason })

/** What of the customer held at an instant. */
export function termsAt({ terms }: AttributedCustomer, at: Instant): CustomerTerms {
  const found = terms.findLast(({ from }) => from <= at) ?? terms[0]
  if (!found) throw new Error('a customer has terms')
  return found
}

/** The part of a subscription that is in force at an instant. */
const heldAt = ({ held }: Candidate, at: Instant): PlanVersionPeriod | undefined =>
  held.find(({ start, end }) => start <= at && (end === null || at < end))

type Match = { readonly subscription: Candidate; readonly held: PlanVersionPeriod }

/**
 * The subscription an event belongs to: the one it names; else of those that are in force at its time and price its meter,
 * the one its selector chooses, the one the customer's selector chooses, the only one, or the one that started last.
 */
export function attribute(customer: AttributedCustomer, event: AttributedEvent): Attribution {
  if (customer.processingOnly) return none('PROCESSING_ONLY')
  const asked = namedSubscription(event.subscription)
  if (asked.kind === 'ID' || asked.kind === 'REFERENCE') return named(customer, asked, event)
  const inForce = customer.subscriptions.flatMap((subscription): Match[] => {
    const held = heldAt(subscription, event.timestamp)
    return held ? [{ subscription, held }] : []
  })
  if (inForce.length === 0) return none('NO_SUBSCRIPTION')
  const matching = inForce.filter(({ held }) => held.meters.has(event.meterReference))
  if (matching.length === 0) return none('NO_PRICING')
  const chosen = selectorFor(asked, termsAt(customer, event.timestamp).selector)
  return chosen ? select(matching, chosen) : found(matching, matching.length === 1 ? 'ONLY' : 'LATEST')
}

function named(
  customer: AttributedCustomer,
  asked: Extract<NamedSubscription, { kind: 'ID' | 'REFERENCE' }>,
  event: AttributedEvent,
): Attribution {
  const subscription = customer.subscriptions.find(({ id, reference }) =>
    asked.kind === 'ID' ? id === asked.id : reference === asked.reference,
  )
  if (!subscription) return none('SUBSCRIPTION_NOT_FOUND')
  const held = heldAt(subscription, event.timestamp)
  if (!held) return none('NO_SUBSCRIPTION')
  if (!held.meters.has(event.meterReference)) return none('NO_PRICING')
  return { kind: 'SUBSCRIPTION', subscription, held, by: asked.kind }
}

type Chosen = { readonly selector: Selector; readonly by: 'EVENT_SELECTOR' | 'CUSTOMER_SELECTOR' }

/** An event may give facts alone: then the customer's selector, if there is one, is asked with them. */
function selectorFor(asked: NamedSubscription, own: Selector | null): Chosen | null {
  const sent = asked.kind === 'SELECTOR' ? asked.selector : null
  if (own === null || (sent !== null && sent.rules.length + sent.filters.length > 0)) {
    if (sent !== null) return { selector: sent, by: 'EVENT_SELECTOR' }
    return own && { selector: own, by: 'CUSTOMER_SELECTOR' }
  }
  const given = sent?.data ?? []
  const kept = own.data.filter(({ field }) => given.every(fact => fact.field !== field))
  return { selector: { ...own, data: [...given, ...kept] }, by: 'CUSTOMER_SELECTOR' }
}

function select(matching: readonly Match[], { selector, by }: Chosen): Attribution {
  const passing = matching.filter(match => passes(match, selector))
  if (passing.length > 0) return found(passing, by)
  return selector.fallback === 'NONE' ? none('SELECTOR_NOT_MATCHED') : found(matching, 'LATEST')
}

function passes(match: Match, { data, rules, filters }: Selector): boolean {
  const field = (name: SelectorData['field']): string | null =>
    name === 'PRICING_PLAN_REFERENCE' ? match.held.planReference : match.subscription.billingEntityCountry
  const given = (name: SelectorData['field']): string[] =>
    data.filter(fact => fact.field === name).map(fact => fact.value)
  return (
    rules.every(rule => holds(rule.type, field(rule.field), given(rule.field))) &&
    filters.every(filter => holds(filter.type, field(filter.field), filter.value === null ? [] : [filter.value]))
  )
}

/** Whether a field compares with any of the values (with none of them, for NOT_…). Without values nothing but EMPTY holds. */
function holds(type: SelectorComparator, field: string | null, values: readonly string[]): boolean {
  if (type === 'EMPTY') return field === null || field === ''
  if (type === 'NOT_EMPTY') return field !== null && field !== ''
  if (values.length === 0) return false
  const equals = field !== null && values.includes(field)
  const contains = field !== null && values.some(value => field.includes(value))
  switch (type) {
    case 'EQUALS':
    case 'IN':
      return equals
    case 'NOT_EQUALS':
    case 'NOT_IN':
      return !equals
    case 'CONTAINS':
      return contains
    case 'NOT_CONTAINS':
      return !contains
  }
}

/** The one that started last; of two that started together the one whose id is greater, which was made later. */
function found(matches: readonly Match[], by: DecidedBy): Attribution {
  const [first, ...rest] = matches
  if (!first) throw new Error('one of none cannot be found')
  const latest = rest.reduce((best, match) => (isLater(match, best) ? match : best), first)
  return { kind: 'SUBSCRIPTION', ...latest, by }
}

const startOf = ({ subscription }: Match): number => subscription.held[0]?.start ?? 0
const isLater = (a: Match, b: Match): boolean =>
  startOf(a) === startOf(b) ? a.subscription.id > b.subscription.id : startOf(a) > startOf(b)
