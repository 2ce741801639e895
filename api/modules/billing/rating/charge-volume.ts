// The parsed price of a charge, and what was metered for it. Pure.
import { carriedOn, isPersistable, persistedUsageAt } from '../../../../shared/billing/persisted-usage.ts'
import { type Decimal, decimalOfInteger, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { type PriceConfigReading, parsePriceConfig } from '../../../../shared/rating/parse/parse-price-config.ts'
import { amountVolume, type Metric, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import type { PriceConfig } from '../../../../shared/rating/rate.ts'
import { formatInstant, type Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import type { ConfigInput } from '../terms/billing-inputs.ts'
import { needKey, type UsageFigure, type UsageFigures } from '../usage/usage-needs.ts'

const readings = new WeakMap<ConfigInput, Map<string, PriceConfigReading>>()

/** A price is parsed once, however many of its periods are charged. */
function readPrice(config: ConfigInput, metric: Metric, currency: string): PriceConfigReading {
  const known = readings.get(config) ?? new Map<string, PriceConfigReading>()
  readings.set(config, known)
  const key = `${metric} ${currency}`
  const reading = known.get(key) ?? parsePriceConfig(config, { metric, currency })
  known.set(key, reading)
  return reading
}

/** In the currency of its schedule. Throws INVALID_OPERATION when the price cannot be billed. */
export function priceOf({
  config,
  schedule,
  calculation,
}: Pick<Charge, 'config' | 'schedule' | 'calculation'>): PriceConfig {
  const metric = calculation?.value_type === 'AMOUNT' ? 'AMOUNT' : 'NUMBER'
  const reading = readPrice(config, metric, schedule.pricing_currency)
  if (reading.kind === 'ok') return reading.config
  throw new AppError('INVALID_OPERATION', reading.fault.message, {
    field: reading.fault.field,
    resourceId: config.id,
    resourceType: 'PRICING_ITEM_CONFIG',
  })
}

/** The figures of a need by their split values (`splitKey`); all of them under '' where usage is not split. */
const bySplit = new WeakMap<readonly UsageFigure[], ReadonlyMap<string, readonly UsageFigure[]>>()

/** The same key for the same values. */
export const splitKey = ({ split }: Pick<UsageFigure, 'split'>): string => (split ? JSON.stringify(split) : '')

/** By `splitKey`. Throws when the usage was not read. */
export function figuresBySplit(
  charge: Charge,
  interval: Interval,
  usage: UsageFigures,
): ReadonlyMap<string, readonly UsageFigure[]> {
  const figures = usage.get(needKey(charge, interval))
  if (!figures) throw new Error(`the usage of ${charge.key} was not read`)
  const known = bySplit.get(figures) ?? new Map(groupBy(figures, splitKey))
  bySplit.set(figures, known)
  return known
}

/**
 * What was metered for the charge in an interval; for a split price, for the values of this key. Throws
 * INVALID_OPERATION for metered money in another currency.
 */
export function volumeOf(charge: Charge, interval: Interval, usage: UsageFigures, key = ''): Volume {
  const { calculation, schedule } = charge
  if (!calculation) throw new Error(`the metered charge ${charge.key} has no calculation`)
  const figures = charge.split ? (figuresBySplit(charge, interval, usage).get(key) ?? []) : undefined
  const figure = figureOf(charge, figures ?? usage.get(needKey(charge, interval)))
  const quantity = withPersistedUsage(charge, interval, figure)
  const count = decimalOfInteger(figure?.count ?? 0)
  return calculation.value_type === 'AMOUNT'
    ? amountVolume(quantity, schedule.pricing_currency, count)
    : numberVolume(quantity, count)
}

/** The figure of a calculation in the unit of the price; null without usage. Throws like `volumeOf`. */
export function figureOf(
  { key, calculation, schedule }: Pick<Charge, 'key' | 'calculation' | 'schedule'>,
  figures: readonly UsageFigure[] | undefined,
): UsageFigure | null {
  if (!figures) throw new Error(`the usage of ${key} was not read`)
  if (calculation?.value_type !== 'AMOUNT') return figures.find(({ currency }) => currency === null) ?? null
  const foreign = figures.find(figure => isUnpriced(figure, schedule.pricing_currency))
  if (foreign) {
    const { id: resourceId } = calculation
    const resourceType = 'METER_VALUE_CALCULATION'
    throw new AppError('INVALID_OPERATION', unpricedText(foreign, schedule.pricing_currency), {
      resourceId,
      resourceType,
    })
  }
  return figures.find(({ currency }) => currency === schedule.pricing_currency) ?? null
}

/** Whether it is of money that no rate converts to the currency of the price. */
export const isUnpriced = ({ currency, number, missing }: UsageFigure, pricing: string): boolean =>
  currency !== pricing && (missing !== undefined || !number.eq(ZERO))

/** Why usage has no price, and what to do. */
export function unpricedText({ currency, missing }: UsageFigure, pricing: string): string {
  const of = `Usage in ${currency ?? 'plain numbers'} cannot be priced in ${pricing}`
  const from = missing === undefined ? '' : ` of ${formatInstant(missing)} or before`
  return `${of}: there is no exchange rate${from}. Add one: POST /v1/exchange-rates.`
}

/** The quantity of the events, plus the persisted usage that they are counted on top of, if any. */
export function withPersistedUsage(
  { calculation, persisted }: Charge,
  interval: Interval,
  figure: Pick<UsageFigure, 'number' | 'count'> | null,
): Decimal {
  const state = persistedUsageAt(persisted, interval)
  if (!state) return figure?.number ?? ZERO
  const type = calculation?.calculation_type ?? ''
  if (!isPersistable(type)) throw new Error(`persisted usage of ${type}`)
  return carriedOn(type, state.usage, figure === null || figure.count === 0 ? null : figure.number)
}
