// Usage figures after an event is added: each event updates figures that were read once, and nothing is read again.
// Pure.
import { isDeepStrictEqual } from 'node:util'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { exchangeAt } from '../../../../shared/billing/exchange/exchange-spans.ts'
import { timesFraction } from '../../../../shared/billing/fraction.ts'
import { type Decimal, decimalOfInteger, max, min, ONE, plain, ZERO } from '../../../../shared/decimal.ts'
import { assertNever } from '../../../../shared/errors.ts'
import type { Instant } from '../../../../shared/time.ts'
import { type EventProperties, matcherOf, propertyOf, type UsageCondition } from '../../../../shared/usage/condition.ts'
import type { UsageFigure, UsageFigures, UsageNeed } from '../usage/usage-needs.ts'

/** What an event adds to usage. */
export type NewUsage = {
  readonly meterReference: string
  readonly timestamp: Instant
  /** By the reference of the value; `currency` is null for plain numbers. */
  readonly values: ReadonlyMap<string, { readonly quantity: Decimal; readonly currency: string | null }>
  readonly properties: EventProperties
}

const matchers = new WeakMap<UsageCondition, (properties: EventProperties) => boolean>()

/** Whether the event matches the need. */
function isOf(
  { calculation, condition, interval }: UsageNeed,
  { meterReference, timestamp, ...event }: NewUsage,
): boolean {
  if (calculation.meter_reference !== meterReference) return false
  if (timestamp < interval.start || timestamp >= interval.end) return false
  const { value_reference: value, property_reference: property } = calculation
  if (value !== null && !event.values.has(value)) return false
  if (property !== null && propertyOf(event.properties, property) === undefined) return false
  if (condition === null) return true
  const matches = matchers.get(condition) ?? matcherOf(condition)
  matchers.set(condition, matches)
  return matches(event.properties)
}

/** The needs that the event matches. */
export const needsOf = (needs: readonly UsageNeed[], event: NewUsage): UsageNeed[] =>
  needs.filter(need => isOf(need, event))

/** The values of the event by which the figures of the need are split. */
const splitOf = (
  { splitBy, byValue }: UsageNeed,
  { properties }: NewUsage,
  value: Value | undefined,
): (string | null)[] | undefined =>
  byValue
    ? [plain(value?.quantity ?? ZERO)]
    : splitBy?.map(({ reference }) => propertyOf(properties, reference) ?? null)

type Value = { readonly quantity: Decimal; readonly currency: string | null }

/** The event's value in the currency of the price, or in its own where there is no rate: it is then refused. */
function pricedValue(
  { calculation: { value_reference: reference }, currency: to }: UsageNeed,
  { values, timestamp }: NewUsage,
  rates: readonly ExchangeRate[],
): Value | undefined {
  const value = reference === null ? undefined : values.get(reference)
  if (!value?.currency || !to || value.currency === to) return value
  const { exchange } = exchangeAt(rates, { from: value.currency, to, when: timestamp })
  return exchange ? { quantity: timesFraction(value.quantity, exchange.factor), currency: to } : value
}

/**
 * `isKnown`: for a count of distinct values, whether the event's value is already counted. `rates` convert money in
 * another currency than the price.
 */
export function withEvent(
  figures: UsageFigures,
  needs: readonly UsageNeed[],
  event: NewUsage,
  { isKnown, rates }: { readonly isKnown: (need: UsageNeed) => boolean; readonly rates: readonly ExchangeRate[] },
): UsageFigures {
  const next = new Map(figures)
  for (const need of needsOf(needs, event)) {
    const value = pricedValue(need, event, rates)
    const currency = value?.currency ?? null
    const own = next.get(need.key) ?? []
    const split = splitOf(need, event, value)
    const before = own.find(each => each.currency === currency && isDeepStrictEqual(each.split, split)) ?? null
    const quantity = value?.quantity ?? (isKnown(need) ? ZERO : ONE)
    const after = carriedOn(need.calculation.calculation_type, before, { currency, quantity })
    next.set(need.key, [...own.filter(figure => figure !== before), { ...after, ...(split ? { split } : {}) }])
  }
  return next
}

function carriedOn(
  type: UsageNeed['calculation']['calculation_type'],
  before: UsageFigure | null,
  { currency, quantity }: { readonly currency: string | null; readonly quantity: Decimal },
): UsageFigure {
  const count = (before?.count ?? 0) + 1
  if (before === null || before.count === 0) return { currency, count, number: quantity }
  switch (type) {
    case 'SUM':
    case 'UNIQUE':
      return { currency, count, number: before.number.plus(quantity) }
    case 'MAX':
      return { currency, count, number: max(before.number, quantity) }
    case 'MIN':
      return { currency, count, number: min(before.number, quantity) }
    case 'AVERAGE': {
      const all = before.number.times(decimalOfInteger(before.count)).plus(quantity)
      return { currency, count, number: all.div(decimalOfInteger(count)) }
    }
    default:
      return assertNever(type)
  }
}
