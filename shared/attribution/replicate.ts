// Where the events of a customer are billed besides by its own subscription: by those of its parents (semantics 1.3). Pure.
import { type AttributedCustomer, type AttributedEvent, type Attribution, attribute, termsAt } from './attribute.ts'
import { namedSubscription } from './selector.ts'

/** Customers by id. One that is missing bills nothing. */
export type Directory = ReadonlyMap<string, AttributedCustomer>

/** Generations an event is passed on; also how deep the api lets customers be related. */
export const GENERATIONS_MAX = 10

/** What becomes of an event of a customer that is NON_PROCESSING, whatever it has subscribed to. */
const NEVER_BILLED: Attribution = { kind: 'NONE', reason: 'NO_SUBSCRIPTION' }

export type Place = { readonly customerId: string; readonly attribution: Attribution }

/**
 * What becomes of an event of a customer: its own subscription first, then its parents', nearest first. An event is replicated to
 * the parents of a customer that is PROCESSING_ONLY, or whose subscription it belongs to replicates to them. Each customer
 * is asked once however many ways lead to it, so nobody is billed twice for an event.
 */
export function placesOf(directory: Directory, customerId: string, event: AttributedEvent): Place[] {
  const places: Place[] = []
  const seen = new Set<string>([customerId])
  let generation = [{ customerId, event }]
  for (let depth = 0; depth <= GENERATIONS_MAX && generation.length > 0; depth += 1) {
    generation = generation.flatMap(member => {
      const customer = directory.get(member.customerId)
      if (!customer) return []
      const isOwn = depth === 0
      const attribution = isOwn && customer.nonProcessing ? NEVER_BILLED : attribute(customer, member.event)
      places.push({ customerId: customer.id, attribution })
      if (!goesOn(customer, attribution)) return []
      const parents = termsAt(customer, event.timestamp).parentIds.filter(id => !seen.has(id))
      for (const id of parents) seen.add(id)
      return [...new Set(parents)].map(id => ({ customerId: id, event: withoutName(member.event) }))
    })
  }
  return places
}

const goesOn = (customer: AttributedCustomer, attribution: Attribution): boolean =>
  customer.processingOnly || (attribution.kind === 'SUBSCRIPTION' && attribution.subscription.replicatesToParent)

/** A name is of the child's subscription; a selector applies to each customer in turn. */
const withoutName = (event: AttributedEvent): AttributedEvent =>
  namedSubscription(event.subscription).kind === 'SELECTOR' ? event : { ...event, subscription: '' }
