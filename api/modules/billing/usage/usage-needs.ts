// Which usage an invoice needs, listed before the invoice is built, so that building it is pure.

import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { Decimal } from '../../../../shared/decimal.ts'
import type { Instant, Interval } from '../../../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../../../shared/usage/condition.ts'
import type { Charge } from '../charges/charge.ts'
import { groupCharges } from '../charges/charges.ts'
import { tieringTime, usageSteps } from '../charges/usage-steps.ts'
import type { CalculationInput } from '../terms/billing-inputs.ts'
import { type FilteredCalculation, isRatedPerEvent } from '../terms/price-terms.ts'

export type UsageNeed = {
  readonly key: string
  readonly calculation: CalculationInput
  /** Null for all events of the calculation's meter. */
  readonly condition: UsageCondition | null
  readonly interval: Interval
  /** What money is converted to: the currency of the price. None for numbers, and for money that is not billed. */
  readonly currency?: string | null
  /** A figure for each combination of values of these properties; null for one figure of all together. */
  readonly splitBy: readonly UsageProperty[] | null
  /** The rates by which closed invoices converted this usage; they win over the stored ones. */
  readonly keptRates?: readonly ExchangeRate[]
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
  /** What it was converted from; absent where no event was in another currency than the price. */
  readonly exchange?: UsageExchange
  /** For money that could not be converted: when the first events are for which there is no rate. */
  readonly missing?: Instant
}

/** What was metered in one currency, and what it was converted to, each exact. */
export type ConvertedPart = {
  readonly currency: string
  readonly number: Decimal
  readonly converted: Decimal
  readonly count: number
}
export type UsageExchange = {
  readonly parts: readonly ConvertedPart[]
  readonly used: readonly ExchangeRate[]
  /** All that held in the time of the usage, whether an event used them or not. */
  readonly held: readonly ExchangeRate[]
  /** Those of them that were too old at the time of the events. */
  readonly stale: readonly ExchangeRate[]
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

type MeteredPart = Pick<
  Charge,
  'calculation' | 'condition' | 'split' | 'item' | 'config' | 'productItem' | 'late' | 'schedule'
>

/**
 * The same key for the same question: a condition belongs to one configuration, and all needs without a condition share
 * the same question.
 */
export function needKey(charge: MeteredPart, interval: Interval): string {
  const { split } = charge
  if (isRatedPerEvent(charge)) return `${questionKey(charge, interval)} by value`
  const by = split === null ? '' : ` split ${split.map(({ id }) => id).join(' ')}`
  return `${questionKey(charge, interval)}${by}`
}

function questionKey(
  { calculation, condition, item, config, productItem, late, schedule }: MeteredPart,
  interval: Interval,
): string {
  const which = condition === null ? '' : ` ${item.id} ${config.id} ${productItem.id} ${late?.namesHash ?? ''}`
  const money = calculation?.value_type === 'AMOUNT' ? ` ${schedule.pricing_currency}${keptText(late?.usageRates)}` : ''
  return `${calculation?.id} ${interval.start} ${interval.end}${which}${money}`
}

/** What was converted by other rates is another figure. */
const keptText = (kept: readonly ExchangeRate[] = []): string =>
  kept.map(each => ` ${each.base_currency}${each.currency}${each.rate_timestamp}=${each.rate}`).join('')

const currencyOf = (
  { schedule }: Pick<Charge, 'schedule'>,
  { value_type }: Pick<CalculationInput, 'value_type'>,
): string | null => (value_type === 'AMOUNT' ? schedule.pricing_currency : null)

/** The same for the usage that decides the tier of a charge, where that is other usage. */
export const tieringKey = (charge: MeteredPart, tiering: FilteredCalculation, interval: Interval): string =>
  `${questionKey({ ...charge, ...tiering }, interval)}${tiering.condition === null ? '' : ' tier'}`

/** The same for usage that a line shows and does not bill. */
export const reportKey = (charge: MeteredPart, report: FilteredCalculation, interval: Interval): string =>
  `${questionKey({ ...charge, ...report }, interval)}${report.calculation.value_type === 'AMOUNT' ? ' shown' : ''}`

const keptOf = ({ late }: Pick<Charge, 'late'>): Pick<UsageNeed, 'keptRates'> =>
  late?.usageRates ? { keptRates: late.usageRates } : {}

/** The usage of these charges, each figure once. */
export function usageNeeds(charges: readonly Charge[]): UsageNeed[] {
  const needs = new Map<string, UsageNeed>()
  for (const charge of charges.flatMap(each => [each, ...groupCharges(each)])) {
    const kept = keptOf(charge)
    const add = (need: UsageNeed): unknown => needs.set(need.key, { ...need, ...kept })
    const { calculation, condition, billedUsage, tiering, split: splitBy } = charge
    if (!calculation) continue
    const byValue = isRatedPerEvent(charge)
    const currency = currencyOf(charge, calculation)
    for (const interval of [...usageSteps(charge).map(({ usage }) => usage), billedUsage]) {
      if (interval)
        add({ key: needKey(charge, interval), calculation, condition, interval, currency, splitBy, byValue })
    }
    for (const report of charge.reports ?? []) {
      const now = tieringTime(charge, report)?.now
      // Shown in each currency, as it was metered.
      if (now) add({ key: reportKey(charge, report, now), ...report, interval: now, splitBy: null })
    }
    if (!tiering) continue
    const time = tieringTime(charge, tiering)
    const money = currencyOf(charge, tiering.calculation)
    for (const interval of time ? [time.now, time.before] : []) {
      if (interval) {
        const key = tieringKey(charge, tiering, interval)
        add({ key, ...tiering, interval, currency: money, splitBy: null })
      }
    }
  }
  return [...needs.values()]
}
