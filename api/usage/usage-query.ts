// What can be asked of usage, and what is answered.
import type { Decimal } from '../../shared/decimal.ts'
import type { Interval } from '../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../shared/usage/condition.ts'
import type { UsageScope } from './usage-sql.ts'

/** How the values of events become one number (semantics 1.1). */
export type UsageCalculation =
  | { readonly type: 'SUM' | 'MAX' | 'MIN' | 'AVERAGE'; readonly valueReference: string }
  | { readonly type: 'UNIQUE'; readonly property: UsageProperty }

export type UsageQuery = UsageScope & {
  readonly interval: Interval
  readonly calculation: UsageCalculation
  /** Which events count; all without one. */
  readonly condition?: UsageCondition
  /** A quantity for each combination of values of these properties, an absent one being a value of its own. */
  readonly splitBy?: readonly UsageProperty[]
  /** A quantity for each subscription that events named. */
  readonly groupBySubscription?: true
  /** Only events that ask for one of these (`subscriptionKey`), and those with a selector when `orSelector`. */
  readonly askingFor?: { readonly keys: readonly string[]; readonly orSelector: boolean }
  /**
   * Only events that stand at or before this position of their partition of the log, wherever figures are by now; a
   * partition that is not there was at nothing. Roll-ups do not know that, so raw rows are read.
   */
  readonly upTo?: readonly number[]
  /**
   * RAW has ClickHouse put raw rows together, ROLLED roll-ups, however few there are; LISTED reads the roll-ups of few names as they
   * lie. The same answer, slower.
   */
  readonly source?: 'RAW' | 'ROLLED' | 'LISTED'
}

export type UsageQuantity = {
  /** Null for NUMBER values and UNIQUE. */
  readonly currency: string | null
  readonly number: Decimal
  /** How many values there were, one an event; for UNIQUE how many events carry the property. */
  readonly count: number
  /** In the order of `splitBy`; null where events lack the property. NUMBER values in their shortest form. */
  readonly split: readonly (string | null)[]
  /** The `subscription` of the events, '' when they name none; null when not grouped by it. */
  readonly subscription: string | null
  /** Of UNIQUE the different values themselves (`distinctText`), where they are not too many to be given. */
  readonly values?: readonly string[]
}
