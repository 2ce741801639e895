// Which of the events of a need are the subscription's: whose, in which time, and by what they ask for. Pure.
import type { AttributedCustomer } from '../../../../shared/attribution/attribute.ts'
import { type Directory, placesOf } from '../../../../shared/attribution/replicate.ts'
import { subscriptionKey } from '../../../../shared/attribution/selector.ts'
import { type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { type AttributionInputs, directoryOf } from '../../subscriptions/load-attribution.ts'

/** Events of one customer in a time in which nothing changes that decides where they belong. */
export type UsagePart = {
  readonly customerId: string
  /** Every name events may carry the customer by. */
  readonly customerKeys: readonly string[]
  readonly interval: Interval
  /** What events that can be the subscription's may ask for by name; null when they may name anything. */
  readonly keys: readonly string[] | null
  /** Whether events that ask for this (`subscriptionKey`) are the subscription's. */
  isOurs(key: string): boolean
}

export type PartsOf = {
  readonly subscriptionId: string
  readonly meterReference: string
  readonly interval: Interval
}

/** The parts of an interval. The answer for one instant of a part is that for all of it, since nothing changes within it. */
export function usageParts(attribution: AttributionInputs, of: PartsOf): UsagePart[] {
  const directory = directoryOf(attribution)
  const { subscriptionId, meterReference } = of
  const owner = attribution.subscriptions.find(({ id }) => id === subscriptionId)?.customer_id
  const times = cut(of.interval, boundaries(directory))
  return sendersOf(attribution, subscriptionId).flatMap(customer =>
    times.map((time): UsagePart => {
      const known = new Map<string, boolean>()
      const isOurs = (key: string): boolean => {
        const event = { subscription: key, meterReference, timestamp: time.start }
        const answer =
          known.get(key) ??
          placesOf(directory, customer.id, event).some(
            ({ attribution: found }) => found.kind === 'SUBSCRIPTION' && found.subscription.id === subscriptionId,
          )
        known.set(key, answer)
        return answer
      }
      const own = directory.get(customer.id)
      return {
        customerId: customer.id,
        customerKeys: customer.customerKeys,
        interval: time,
        keys: customer.id === owner ? namesOf(own, subscriptionId) : null,
        isOurs,
      }
    }),
  )
}

/** The customers whose events may be the subscription's, with every name events may carry them by. */
export function sendersOf(
  attribution: AttributionInputs,
  subscriptionId: string,
): { readonly id: string; readonly customerKeys: readonly string[] }[] {
  const owner = attribution.subscriptions.find(({ id }) => id === subscriptionId)?.customer_id
  // Nothing goes on from a customer that is billed itself and whose subscriptions do not replicate.
  const senders = attribution.customers.filter(
    ({ id, processing_only }) =>
      id === owner ||
      processing_only ||
      attribution.subscriptions.some(each => each.customer_id === id && each.replicates),
  )
  return senders.map(({ id, reference }) => ({ id, customerKeys: reference === null ? [id] : [id, reference] }))
}

function namesOf(customer: AttributedCustomer | undefined, subscriptionId: string): string[] {
  const own = customer?.subscriptions.find(({ id }) => id === subscriptionId)
  const reference = own?.reference ?? null
  return [
    '',
    subscriptionKey({ kind: 'ID', id: subscriptionId }),
    ...(reference === null ? [] : [subscriptionKey({ kind: 'REFERENCE', reference })]),
  ]
}

/** Every instant at which something may begin or stop to hold. */
function boundaries(directory: Directory): number[] {
  return [...directory.values()].flatMap(({ terms, subscriptions }) => [
    ...terms.map(({ from }) => from),
    ...subscriptions.flatMap(({ held }) => held.flatMap(({ start, end }) => (end === null ? [start] : [start, end]))),
  ])
}

function cut({ start, end }: Interval, at: readonly number[]): Interval[] {
  const inner = [...new Set(at)].filter(each => start < each && each < end).sort((a, b) => a - b)
  const edges = [start, ...inner, end]
  return edges.slice(1).map((edge, index) => interval(instantOf(edges[index] ?? start), instantOf(edge)))
}
