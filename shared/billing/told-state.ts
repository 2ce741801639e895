// A state that is told, instead of being derived from every event since the schedule's start (persist data). Pure.
import { type Decimal, max, min } from '../decimal.ts'
import { assertNever } from '../errors.ts'
import type { Instant, Interval } from '../time.ts'

/** From `at` on the state is `usage`, with the events from then on. */
export type ToldState = {
  /** Of the record that told it. */
  readonly id: string
  readonly at: Instant
  readonly usage: Decimal
}

/** Calculations whose state is one number that more events can be added to: a mean lacks its count, a set its values. */
export const TELLABLE = ['SUM', 'MAX', 'MIN'] as const
export type Tellable = (typeof TELLABLE)[number]
export const isTellable = (type: string): type is Tellable => TELLABLE.some(each => each === type)

/** The state that usage of this interval is on top of; null when it starts from nothing. */
export const toldAt = (told: readonly ToldState[], { start }: Interval): ToldState | null =>
  told.find(({ at }) => at === start) ?? null

/** The state after events that come to this much on their own; null for no events, which leave it as it was told. */
export function carriedOn(type: Tellable, told: Decimal, events: Decimal | null): Decimal {
  if (events === null) return told
  switch (type) {
    case 'SUM':
      return told.plus(events)
    case 'MAX':
      return max(told, events)
    case 'MIN':
      return min(told, events)
    default:
      return assertNever(type)
  }
}
