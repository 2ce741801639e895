// The amount of a charge for a full period: its usage after included volume, at the tier decided by its own usage, by
// other usage or by its group. Pure.
import { unitsOf } from '../../../../shared/billing/charging/units.ts'
import { type Decimal, decimal, decimalOfInteger, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount } from '../../../../shared/money.ts'
import type { IncludedVolumeDetails } from '../../../../shared/rating/included/included-volume.ts'
import { amountVolume, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { type PriceConfig, type RatedPrice, type RateOptions, rate } from '../../../../shared/rating/rate.ts'
import { type EqualEvents, oneEvent, rateEvents } from '../../../../shared/rating/rate-events.ts'
import { type PooledPrice, rateInPool } from '../../../../shared/rating/volume-pool.ts'
import type { Interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import { groupCharges } from '../charges/charges.ts'
import { tieringTime, usageSteps } from '../charges/usage-steps.ts'
import { type FilteredCalculation, isMetered } from '../terms/price-terms.ts'
import { seatsByDefault } from '../terms/term-seats.ts'
import { exchangesTogether } from '../usage/convert-usage.ts'
import {
  needKey,
  reportKey,
  tieringKey,
  type UsageExchange,
  type UsageFigure,
  type UsageFigures,
} from '../usage/usage-needs.ts'
import { type ChargeUsage, chargeUsage } from './billable-usage.ts'
import { figureOf, figuresBySplit, priceOf, volumeOf } from './charge-volume.ts'

export type PricedUsage = {
  readonly rated: RatedPrice
  /** The usage before included volume is deducted; for a charge that is not metered, the number of units. */
  readonly metered: Volume
  /** The same for all prices of its volume group. */
  readonly together: Pick<Volume, 'quantity' | 'count'>
  /** The included volume of the price; null when it includes none. */
  readonly included: IncludedVolumeDetails | null
  /** The usage of its volume group, and its share of it; null when it has no group. */
  readonly pool: Omit<PooledPrice, 'rated'> | null
  /** The quantity of other usage, or its number of events, that decided the tier; null where its own usage decides. */
  readonly position: Decimal | null
  /** What earlier invoices billed for the same pricing period, with the usage; null when the charge starts it. */
  readonly before: Pick<RatedPrice, 'total' | 'volume'> | null
  /** For a split price: the amount of each combination of values, which sum to the whole; otherwise null. */
  readonly parts: readonly SplitPart[] | null
  /** What its usage was converted from; null where no event was in another currency than the price. */
  readonly exchange: UsageExchange | null
  /** What the line shows besides; absent where the item has no calculations for it. */
  readonly reports?: readonly ReportedUsage[]
}

/** Usage that is shown and not billed: a figure for each currency. */
export type ReportedUsage = { readonly report: FilteredCalculation; readonly figures: readonly UsageFigure[] }

/** The usage of one combination of values, priced on its own. */
export type SplitPart = Pick<PricedUsage, 'rated' | 'metered' | 'included'> & {
  /** In the order of the properties; null where events lack the property. */
  readonly values: readonly (string | null)[]
}

/** The charged quantity when the price is not metered: units, seats, or one. */
function quantityOf({ schedule, productItem, config, seats }: Charge): Volume {
  if (seats) return numberVolume(seats.number)
  const given = (of: typeof config.default_units): Decimal | null => (of?.number ? decimal(of.number) : null)
  if (productItem.model_type === 'PER_SEAT') return numberVolume(seatsByDefault(config))
  const stated = schedule.units?.find(each => each.pricing_item_config_id === config.id) ?? null
  return numberVolume(unitsOf(given(stated), given(config.default_units)))
}

/**
 * `own` replaces what was metered in the charge's time, to price again what was counted then; for an item that sells
 * credits it is what wallets lacked. Not for split prices.
 */
export function priceUsage(config: PriceConfig, charge: Charge, usage: UsageFigures, own?: Volume): PricedUsage {
  const priced = { exchange: exchangeOf(charge, usage), ...priceOwn(config, charge, usage, own) }
  return charge.reports ? { ...priced, reports: reported(charge, charge.reports, usage) } : priced
}

function exchangeOf(charge: Charge, usage: UsageFigures): UsageExchange | null {
  const { calculation } = charge
  const figures = calculation && charge.usage ? (usage.get(needKey(charge, charge.usage)) ?? []) : []
  return calculation ? exchangesTogether(figures, calculation.calculation_type) : null
}

function reported(charge: Charge, reports: readonly FilteredCalculation[], usage: UsageFigures): ReportedUsage[] {
  return reports.flatMap(report => {
    const time = tieringTime(charge, report)
    return time ? { report, figures: usage.get(reportKey(charge, report, time.now)) ?? [] } : []
  })
}

function priceOwn(
  config: PriceConfig,
  charge: Charge,
  usage: UsageFigures,
  own?: Volume,
): Omit<PricedUsage, 'exchange'> {
  if (!isMetered(charge)) {
    const quantity = own ?? quantityOf(charge)
    const of = { metered: quantity, together: quantity, included: null, pool: null, position: null }
    const paid = charge.seats?.before ?? null
    const before = paid && { total: rate(config, numberVolume(paid)).total, volume: numberVolume(paid) }
    return { ...of, before, parts: null, rated: rate(config, quantity) }
  }
  if (charge.split) return priceSplit(config, charge, usage)
  if (config.perEvent) return priceEvents(config, charge, usage)
  const { metered, billable, included, before: earlier, prior } = usageOf(config, charge, usage, own)
  const others = groupCharges(charge).map(other => usageOf(priceOf(other), other, usage))
  const positions = positionsOf(config, charge, usage)
  const now = rateUsage(config, [billable, ...others.map(other => other.billable)], { prior, ...at(positions.now) })
  const then = earlier && [earlier.billable, ...others.flatMap(other => other.before?.billable ?? [])]
  return {
    rated: now.rated,
    metered,
    together: others.reduce((sum, other) => plus(sum, other.metered), metered),
    included,
    pool: now.pool,
    position: positions.now,
    before: then && {
      total: rateUsage(config, then, { prior, ...at(positions.before) }).rated.total,
      volume: earlier.metered,
    },
    parts: null,
  }
}

/**
 * Prices every combination of values on its own, so that tiers, minimums, blocks and included volume start again for
 * each (semantics 3.1). Values without usage are not priced, so a split price without usage charges nothing.
 */
function priceSplit(config: PriceConfig, charge: Charge, usage: UsageFigures): Omit<PricedUsage, 'exchange'> {
  const priced = combinationsOf(charge, usage).map(([key, values]) => {
    const of = chargeUsage(config, charge, interval => volumeOf(charge, interval, usage, key))
    const { metered, billable, included, before: earlier, prior } = of
    const rated = rate(config, billable, { prior })
    const before = earlier && { total: rate(config, earlier.billable, { prior }).total, volume: earlier.metered }
    return { values, rated, metered, included, before }
  })
  const nothing = volumeOf(charge, charge.usage ?? charge.service, usage, NO_VALUES)
  const metered = priced.reduce((all, part) => plus(all, part.metered), nothing)
  const befores = priced.flatMap(({ before }) => before ?? [])
  return {
    rated: {
      pricingType: config.pricingType,
      volume: metered,
      charges: priced.flatMap(({ rated }) => rated.charges),
      total: amount(sum(priced.map(({ rated }) => rated.total.quantity)), config.currency),
      rollover: ZERO,
    },
    metered,
    together: metered,
    included: null,
    pool: null,
    position: null,
    before:
      charge.billedUsage === null
        ? null
        : {
            total: amount(sum(befores.map(({ total }) => total.quantity)), config.currency),
            volume: befores.reduce((all, { volume }) => plus(all, volume), nothing),
          },
    parts: priced,
  }
}

/** Prices each event on its own; what earlier invoices billed is the price of the events that they had. */
function priceEvents(config: PriceConfig, charge: Charge, usage: UsageFigures): Omit<PricedUsage, 'exchange'> {
  const { calculation, schedule } = charge
  const none =
    calculation?.value_type === 'AMOUNT' ? amountVolume(ZERO, schedule.pricing_currency, ZERO) : numberVolume(ZERO)
  const ratedIn = (interval: Interval): RatedPrice => {
    const figures = usage.get(needKey(charge, interval))
    // Throws for money in another currency, and where the usage was not read.
    figureOf(charge, figures)
    return rateEvents(config, (figures ?? []).flatMap(equalEvents(none)), none)
  }
  const rated = ratedIn(charge.usage ?? charge.service)
  const before = charge.billedUsage && ratedIn(charge.billedUsage)
  return {
    rated,
    metered: rated.volume,
    together: rated.volume,
    included: null,
    pool: null,
    position: null,
    before: before && { total: before.total, volume: before.volume },
    parts: null,
  }
}

/** The events of one value. */
const equalEvents =
  (none: Volume) =>
  ({ number, count }: UsageFigure): EqualEvents[] => {
    const times = decimalOfInteger(count)
    return count === 0 ? [] : [{ each: oneEvent(none, number.div(times)), times }]
  }

/** For values without usage. */
const NO_VALUES = 'no values'

/** The combinations of values in the usage that the charge reads, in the order of the values. */
function combinationsOf(charge: Charge, usage: UsageFigures): [key: string, values: readonly (string | null)[]][] {
  const found = new Map<string, readonly (string | null)[]>()
  for (const interval of [...usageSteps(charge).map(step => step.usage), charge.billedUsage]) {
    if (interval === null) continue
    for (const [key, [first]] of figuresBySplit(charge, interval, usage)) found.set(key, first?.split ?? [])
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

const usageOf = (config: PriceConfig, charge: Charge, usage: UsageFigures, own?: Volume): ChargeUsage =>
  chargeUsage(config, charge, interval => volumeOf(charge, interval, usage), own)

const at = (position: Decimal | null): Pick<RateOptions, 'position'> => (position === null ? {} : { position })

const plus = (a: Volume, b: Volume): Volume => ({
  ...a,
  quantity: a.quantity.plus(b.quantity),
  count: a.count.plus(b.count),
})

function rateUsage(
  config: PriceConfig,
  [own, ...others]: readonly Volume[],
  options: RateOptions,
): Pick<PricedUsage, 'rated' | 'pool'> {
  if (!own) throw new Error('a metered charge has its own usage')
  if (others.length === 0) return { rated: rate(config, own, options), pool: null }
  const { rated, ...pool } = rateInPool(config, own, others)
  return { rated, pool }
}

/** The position that decides the tier, when other usage does. */
function positionsOf(
  { placedBy }: PriceConfig,
  charge: Charge,
  usage: UsageFigures,
): { readonly now: Decimal | null; readonly before: Decimal | null } {
  const { tiering } = charge
  const time = tiering && tieringTime(charge, tiering)
  if (!time) return { now: null, before: null }
  const quantity = (interval: typeof time.now): Decimal => {
    const figures = usage.get(tieringKey(charge, tiering, interval))
    const figure = figureOf({ ...charge, calculation: tiering.calculation }, figures)
    return placedBy === 'COUNT' ? decimalOfInteger(figure?.count ?? 0) : (figure?.number ?? ZERO)
  }
  return { now: quantity(time.now), before: time.before && quantity(time.before) }
}
