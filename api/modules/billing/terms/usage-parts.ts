// Which of the events of a need are the subscription's: by customer, by time, and by the subscription that they name.
// Pure.
import type { AttributedCustomer } from '../../../../shared/attribution/attribute.ts'
import { type Directory, placesOf } from '../../../../shared/attribution/replicate.ts'
import { subscriptionKey } from '../../../../shared/attribution/selector.ts'
import { type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { type AttributionInputs, directoryOf } from '../../subscriptions/attribution/load-attribution.ts'

/** Events of one customer during a time in which their attribution does not change. */
export type UsagePart = {
  readonly customerId: string
  /** Every customer key that the events may carry. */
  readonly customerKeys: readonly string[]
  readonly interval: Interval
  /** The subscriptions that its events may name; null when they may name any. */
  readonly keys: readonly string[] | null
  /** Whether events that name this (`subscriptionKey`) are the subscription's. */
  isOurs(key: string): boolean
}

export type PartsOf = {
  readonly subscriptionId: string
  readonly meterReference: string
  readonly interval: Interval
}

/**
 * The parts of an interval. The answer for one instant of a part holds for all of it, because nothing changes within
 * it.
 */
export function usageParts(attribution: AttributionInputs, of: PartsOf): readonly UsagePart[] {
  // The prices of a subscription ask for the same meters and times, and each answer is found once.
  const { parts } = knownOf(attribution)
  const key = `${of.subscriptionId} ${of.interval.start} ${of.interval.end} ${of.meterReference}`
  const found = parts.get(key) ?? findParts(attribution, of)
  parts.set(key, found)
  return found
}

function findParts(attribution: AttributionInputs, of: PartsOf): UsagePart[] {
  const { directory, changes } = knownOf(attribution)
  const { subscriptionId, meterReference } = of
  const times = cut(of.interval, changes)
  return sendersOf(attribution, subscriptionId).flatMap(customer =>
    times.map((time): UsagePart => {
      const answers = new Map<string, boolean>()
      const isOurs = (key: string): boolean => {
        const event = { subscription: key, meterReference, timestamp: time.start }
        const answer =
          answers.get(key) ??
          placesOf(directory, customer.id, event).some(
            ({ attribution: found }) => found.kind === 'SUBSCRIPTION' && found.subscription.id === subscriptionId,
          )
        answers.set(key, answer)
        return answer
      }
      return {
        customerId: customer.id,
        customerKeys: customer.customerKeys,
        interval: time,
        keys: customer.keys,
        isOurs,
      }
    }),
  )
}

type Sender = {
  readonly id: string
  readonly customerKeys: readonly string[]
  /** The subscriptions that its events may name; null when they may name any. */
  readonly keys: readonly string[] | null
}
type Known = {
  readonly directory: Directory
  readonly changes: readonly number[]
  readonly parts: Map<string, readonly UsagePart[]>
  /** By subscription. */
  readonly senders: Map<string, readonly Sender[]>
}
/** Of a customer with thousands of subscriptions it takes longer than the rest, and all of them and all their prices share it. */
const known = new WeakMap<AttributionInputs, Known>()

function knownOf(attribution: AttributionInputs): Known {
  const before = known.get(attribution)
  if (before) return before
  const directory = directoryOf(attribution)
  const made = { directory, changes: boundaries(directory), parts: new Map(), senders: new Map() }
  known.set(attribution, made)
  return made
}

/** The customers whose events may be the subscription's, with every customer key that the events may carry. */
export function sendersOf(attribution: AttributionInputs, subscriptionId: string): readonly Sender[] {
  const { directory, senders: found } = knownOf(attribution)
  const before = found.get(subscriptionId)
  if (before) return before
  const owner = attribution.subscriptions.find(({ id }) => id === subscriptionId)?.customer_id
  // Usage is not passed on from a customer that is billed itself and whose subscriptions do not replicate.
  const senders = attribution.customers.filter(
    ({ id, processing_only }) =>
      id === owner ||
      processing_only ||
      attribution.subscriptions.some(each => each.customer_id === id && each.replicates),
  )
  const own = senders.map(
    ({ id, reference }): Sender => ({
      id,
      customerKeys: reference === null ? [id] : [id, reference],
      keys: id === owner ? namesOf(directory.get(id), subscriptionId) : null,
    }),
  )
  found.set(subscriptionId, own)
  return own
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

/** Every instant at which a rule of attribution may begin or cease to apply. */
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
