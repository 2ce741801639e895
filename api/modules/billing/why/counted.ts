// Which events a charge counts, decided for single events by the same parts and conditions that query usage.
import { contains, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { matcherOf } from '../../../../shared/usage/condition.ts'
import type { CountableEvents, EventPlace } from '../../../usage/receipt-entries.ts'
import type { Charge } from '../charges/charge.ts'
import { wasCounted } from '../late/closed-usage.ts'
import { sendersOf, usageParts } from '../terms/usage-parts.ts'
import type { Basis } from './reprice.ts'

/**
 * What a charge makes of an event: COUNTED by its invoice, or BEFORE: counted by an earlier invoice of the same pricing
 * period.
 */
export type Counting = (event: CountableEvents & EventPlace) => 'COUNTED' | 'BEFORE' | null

/** The same for events that differ in time and place alone; null where it counts none of them, whenever they were. */
export type CountingOfMany = (of: CountableEvents) => ((place: EventPlace) => 'COUNTED' | 'BEFORE' | null) | null

/** What a metered charge of the basis counts; null for a charge that is not metered. */
export function countingOf(basis: Basis, charge: Charge): Counting | null {
  const counting = countingOfMany(basis, charge)
  return counting && (event => counting(event)?.(event) ?? null)
}

export function countingOfMany({ inputs, late }: Basis, charge: Charge): CountingOfMany | null {
  const { calculation, condition, usage, billedUsage } = charge
  if (!calculation || !usage) return null
  const { meter_reference: meterReference, value_reference: value, property_reference: property } = calculation
  const { attribution, subscription } = inputs
  const parts = usageParts(attribution, { subscriptionId: subscription.id, meterReference, interval: usage })
  const meets = condition === null ? () => true : matcherOf(condition)
  const unit = late.find(each => each.charge === charge)?.unit
  return of => {
    const { customerKey } = of
    if (of.meterReference !== meterReference || !meets(of.properties)) return null
    const carries = of.values.some(({ reference }) => reference === value)
    if (!carries && !(property !== null && property in of.properties)) return null
    const own = parts.filter(({ customerKeys }) => customerKeys.includes(customerKey))
    if (own.length === 0) return null
    const isBefore = ({ timestamp, partition, seq }: EventPlace): boolean =>
      (billedUsage !== null && contains(billedUsage, timestamp)) ||
      (unit !== undefined && wasCounted(unit.counted, { customerKey, place: { partition, seq } }))
    return place => {
      const part = own.find(({ interval: time }) => contains(time, place.timestamp))
      if (!part?.isOurs(of.subscription)) return null
      return isBefore(place) ? 'BEFORE' : 'COUNTED'
    }
  }
}

/** Where to find the events of these charges; null when none of them is metered. */
export function eventsOf({ inputs }: Pick<Basis, 'inputs'>, charges: readonly Charge[]) {
  const metered = charges.flatMap(({ calculation, usage }) => (calculation && usage ? [{ calculation, usage }] : []))
  if (metered.length === 0) return null
  const { attribution, subscription } = inputs
  return {
    customerKeys: sendersOf(attribution, subscription.id).flatMap(({ customerKeys }) => customerKeys),
    meterReferences: [...new Set(metered.map(({ calculation }) => calculation.meter_reference))],
    interval: covering(metered.map(({ usage }) => usage)),
  }
}

/** The time from the first to the last. */
export const covering = (all: readonly Interval[]): Interval =>
  interval(instantOf(Math.min(...all.map(({ start }) => start))), instantOf(Math.max(...all.map(({ end }) => end))))
