// A state that the caller supplies (persist data), instead of one derived from every event since the schedule's start.
// Pure.
import { type Decimal, max, min } from '../decimal.ts'
import { assertNever } from '../errors.ts'
import type { Instant, Interval } from '../time.ts'

/** From `at` on the state is `usage` plus the events from then on. */
export type PersistedUsage = {
  /** The id of the record that holds it. */
  readonly id: string
  readonly at: Instant
  readonly usage: Decimal
}

/**
 * Calculations whose state is one number that more events can be added to: a mean would also need its count, a set its
 * values.
 */
export const PERSISTABLE = ['SUM', 'MAX', 'MIN'] as const
export type Persistable = (typeof PERSISTABLE)[number]
export const isPersistable = (type: string): type is Persistable => PERSISTABLE.some(each => each === type)

/** The persisted state that usage of this interval is added to; null when it starts from nothing. */
export const persistedUsageAt = (persisted: readonly PersistedUsage[], { start }: Interval): PersistedUsage | null =>
  persisted.find(({ at }) => at === start) ?? null

/** The state after events with this figure of their own; null for no events, which leave it as recorded. */
export function carriedOn(type: Persistable, persisted: Decimal, events: Decimal | null): Decimal {
  if (events === null) return persisted
  switch (type) {
    case 'SUM':
      return persisted.plus(events)
    case 'MAX':
      return max(persisted, events)
    case 'MIN':
      return min(persisted, events)
    default:
      return assertNever(type)
  }
}
