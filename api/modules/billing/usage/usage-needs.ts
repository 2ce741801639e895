// Which usage an invoice needs, listed before the invoice is built, so that building it is pure.
import type { Decimal } from '../../../../shared/decimal.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../../../shared/usage/condition.ts'
import { type Charge, groupCharges } from '../charges/charges.ts'
import { tieringTime, usageSteps } from '../charges/usage-steps.ts'
import type { CalculationInput } from '../terms/billing-inputs.ts'
import { isRatedPerEvent, type UsageQuestion } from '../terms/price-terms.ts'

export type UsageNeed = {
  readonly key: string
  readonly calculation: CalculationInput
  /** Null for all events of the calculation's meter. */
  readonly condition: UsageCondition | null
  readonly interval: Interval
  /** A figure for each combination of values of these properties; null for one figure of all together. */
  readonly splitBy: readonly UsageProperty[] | null
  /** A figure for each value of events instead, for a price that applies to each event on its own. */
  readonly byValue?: boolean
}

/** One quantity per currency; `currency` is null for plain numbers. None when no event matched. */
export type UsageFigure = {
  readonly currency: string | null
  readonly number: Decimal
  readonly count: number
  /**
   * Its values, in the order of `splitBy`; null where events lack the property. The value of one event where usage is
   * read by value. Absent where usage is not split.
   */
  readonly split?: readonly (string | null)[]
}
export type UsageFigures = ReadonlyMap<string, readonly UsageFigure[]>

/** The figures of one customer's events in a need, on their own. */
export type CustomerFigure = UsageFigure & {
  readonly customerId: string
  /** What its share of the whole is proportional to: the number, or for an average the sum of the values. */
  readonly weight: Decimal
}
/** By need, for every customer that has events in it. */
export type CustomerFigures = ReadonlyMap<string, readonly CustomerFigure[]>

type Asking = Pick<Charge, 'calculation' | 'condition' | 'split' | 'item' | 'config' | 'productItem' | 'late'>

/**
 * The same key for the same question: a condition belongs to one configuration, and all needs without a condition share
 * the same question.
 */
export function needKey(charge: Asking, interval: Interval): string {
  const { split } = charge
  if (isRatedPerEvent(charge)) return `${questionKey(charge, interval)} by value`
  const by = split === null ? '' : ` split ${split.map(({ id }) => id).join(' ')}`
  return `${questionKey(charge, interval)}${by}`
}

function questionKey({ calculation, condition, item, config, productItem, late }: Asking, interval: Interval): string {
  const which = condition === null ? '' : ` ${item.id} ${config.id} ${productItem.id} ${late?.namesHash ?? ''}`
  return `${calculation?.id} ${interval.start} ${interval.end}${which}`
}

/** The same for the usage that decides the tier of a charge, where that is other usage. */
export const tieringKey = (charge: Asking, tiering: UsageQuestion, interval: Interval): string =>
  `${questionKey({ ...charge, ...tiering }, interval)}${tiering.condition === null ? '' : ' tier'}`

/** The same for usage that a line shows and does not bill. */
export const reportKey = (charge: Asking, report: UsageQuestion, interval: Interval): string =>
  questionKey({ ...charge, ...report }, interval)

/** The usage of these charges, each figure once. */
export function usageNeeds(charges: readonly Charge[]): UsageNeed[] {
  const needs = new Map<string, UsageNeed>()
  const add = (need: UsageNeed): unknown => needs.set(need.key, need)
  for (const charge of charges.flatMap(each => [each, ...groupCharges(each)])) {
    const { calculation, condition, billedUsage, tiering, split: splitBy } = charge
    if (!calculation) continue
    const byValue = isRatedPerEvent(charge)
    for (const interval of [...usageSteps(charge).map(({ usage }) => usage), billedUsage]) {
      if (interval) add({ key: needKey(charge, interval), calculation, condition, interval, splitBy, byValue })
    }
    for (const report of charge.reports ?? []) {
      const now = tieringTime(charge, report)?.now
      if (now) add({ key: reportKey(charge, report, now), ...report, interval: now, splitBy: null })
    }
    if (!tiering) continue
    const time = tieringTime(charge, tiering)
    for (const interval of time ? [time.now, time.before] : []) {
      if (interval) add({ key: tieringKey(charge, tiering, interval), ...tiering, interval, splitBy: null })
    }
  }
  return [...needs.values()]
}
