// How a rated charge is explained on the invoice: bands, volumes and a description in words of how the amount came
// about.
import { type Fraction, isWhole } from '../../../../shared/billing/fraction.ts'
import { type PersistedUsage, persistedUsageAt } from '../../../../shared/billing/persisted-usage.ts'
import { type Decimal, decimalOfInteger, ONE, plain, roundHalfUp, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { describeCharge } from '../../../../shared/rating/describe.ts'
import type { IncludedVolume, IncludedVolumeDetails } from '../../../../shared/rating/included/included-volume.ts'
import type { BandCharge, Volume } from '../../../../shared/rating/price.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { BandView, MeterValueView, PriceDetailsView, SubLineView } from '../../invoices/schema.ts'
import { type Charge, prorationPeriod } from '../charges/charge.ts'
import { isRatedPerEvent } from '../terms/price-terms.ts'
import { inBillingCurrency, inPricingCurrency } from './exchange.ts'
import { convertedText, convertedView } from './foreign-usage.ts'
import type { SplitPart } from './price-usage.ts'
import type { RatedCharge } from './rate-charge.ts'

/** The details of a line, without the amount that the line prints. */
export function priceDetails(rated: RatedCharge): Omit<PriceDetailsView, 'amount'> {
  const { charge, scale, share, before } = rated
  const currency = charge.schedule.pricing_currency
  const [only] = rated.rated.charges
  const single = rated.rated.charges.length === 1 && only && rated.parts === null ? only : null
  const meterValue = meterValueView(charge, rated.metered)
  const tieringValue = tieringView(rated)
  const persisted = persistedOf(charge)
  return {
    pricing_currency: currency,
    pricing_amount: amountView(amount(inPricingCurrency(charge, rated.exact), currency)),
    ...ratesView(rated),
    ...(single ? { band: bandView(rated, single) } : {}),
    ...(meterValue ? { meter_value: meterValue } : {}),
    ...convertedView(rated, currency),
    ...(tieringValue ? { tiering_meter_value: tieringValue } : {}),
    ...(single?.priceBound ? { price_bound: single.priceBound } : {}),
    description: describe(rated, currency),
    ...(isWhole(share)
      ? {}
      : { proration: { covered_days: prorationPeriod(charge).coveredDays, days: prorationPeriod(charge).fullDays } }),
    ...(isWhole(scale) ? {} : { pricing_scale: fractionView(scale) }),
    ...(before && meterValue
      ? {
          previously_billed: {
            pricing_amount: amountView(before.total),
            meter_value: meterValueView(charge, before.volume) ?? meterValue,
          },
        }
      : {}),
    ...(persisted ? { persisted_usage: persistedView(charge, persisted) } : {}),
    ...(rated.included ? { included_volume_details: includedView(rated.included, currency) } : {}),
    ...reportsView(rated),
  }
}

/** The rates that converted its usage, and its price. */
function ratesView({ charge, exchange }: RatedCharge): Pick<PriceDetailsView, 'used_exchange_rates'> {
  const used = [...(exchange?.used ?? []), ...(charge.exchange?.used ?? [])]
  const once = [...new Map(used.map(rate => [JSON.stringify(rate), { ...rate }])).values()]
  return once.length === 0 ? {} : { used_exchange_rates: once }
}

/** The report calculations of the item; one without usage has the number 0, or no entry where it is of money. */
export function reportsView({ reports }: Pick<RatedCharge, 'reports'>): Pick<PriceDetailsView, 'report_meter_values'> {
  if (!reports) return {}
  return {
    report_meter_values: reports.flatMap(({ report: { calculation }, figures }) => {
      const none = { currency: null, number: ZERO, count: 0 }
      const shown = figures.length === 0 && calculation.value_type !== 'AMOUNT' ? [none] : figures
      return shown.map(({ currency, number, count }) => ({
        meter_value_calculation_id: calculation.id,
        ...(currency === null ? { number: plain(number) } : { amount: amountView(amount(number, currency)) }),
        count: String(count),
      }))
    }),
  }
}

/** The included volume of the window, what was left of it for this time, and what this time used. */
function includedView({ included, available, periodVolume }: IncludedVolumeDetails, currency: string) {
  const { metric } = periodVolume
  const view = ({ quantity, count }: IncludedVolume) => ({
    ...volumeView(metric, plain(quantity), currency),
    ...(count.eq(ZERO) ? {} : { count: plain(count) }),
  })
  return {
    included_volume: view(included),
    available_included_volume: view(available),
    period_volume: view(periodVolume),
  }
}

/** `1000 of 5000 included`; events are added where they are included. */
export function includedText({ used, periodVolume }: IncludedVolumeDetails, currency: string): string[] {
  const money = periodVolume.metric === 'AMOUNT' ? ` ${currency}` : ''
  return [
    ...(used.quantity.eq(ZERO) ? [] : [`${plain(used.quantity)} of ${plain(periodVolume.quantity)}${money} included`]),
    ...(used.count.eq(ZERO) ? [] : [`${plain(used.count)} of ${plain(periodVolume.count)} events included`]),
  ]
}

const persistedOf = ({ persisted, usage }: Charge): PersistedUsage | null =>
  usage === null ? null : persistedUsageAt(persisted, usage)

const persistedView = ({ calculation, schedule }: Charge, { id, at, usage }: PersistedUsage) => ({
  persist_data_id: id,
  start_at: formatInstant(at),
  meter_value:
    calculation?.value_type === 'AMOUNT'
      ? { amount: amountView(amount(usage, schedule.pricing_currency)) }
      : { number: plain(usage) },
})

const persistedText = ({ calculation, schedule }: Charge, { usage }: PersistedUsage): string =>
  calculation?.value_type === 'AMOUNT' ? `${plain(usage)} ${schedule.pricing_currency}` : plain(usage)

/** One sub line per band when several bands charged; null when the line already says everything. */
export function subLines(of: RatedCharge): SubLineView[] | null {
  const { rated, charge, pool, parts } = of
  if (parts) return splitSubLines(of, parts)
  if (rated.charges.length < 2) return null
  const currency = charge.schedule.pricing_currency
  return rated.charges.map((band, index) => {
    const exact = amountView(amount(band.quantity, currency))
    const description = [describeCharge(band, currency), ...poolText(pool)].join(', ')
    return {
      sub_line_order: index,
      description,
      details: {
        amount: printedBand(charge, band.quantity),
        pricing_currency: currency,
        pricing_amount: exact,
        band: bandView(of, band),
        meter_value: volumeView(rated.volume.metric, plain(band.units), currency),
        ...(band.priceBound ? { price_bound: band.priceBound } : {}),
        description,
      },
    }
  })
}

/** What a band costs, in the currency of the invoice. */
const printedBand = (charge: Charge, quantity: Decimal) =>
  amountView(amount(inBillingCurrency(charge, quantity), charge.billingCurrency))

/** One sub line per band for each combination of values; null without usage. */
function splitSubLines(of: RatedCharge, parts: readonly SplitPart[]): SubLineView[] | null {
  const { charge, pool } = of
  const currency = charge.schedule.pricing_currency
  const lines = parts.flatMap(({ rated, metered, included, values }) =>
    rated.charges.map(band => {
      const exact = amountView(amount(band.quantity, currency))
      const named = (charge.split ?? []).map(({ reference }, index) => `${reference} ${values[index] ?? '(none)'}`)
      const how = [describeCharge(band, currency), ...(included ? includedText(included, currency) : [])]
      const description = `${named.join(', ')}: ${how.join(', ')}`
      return {
        description,
        details: {
          amount: printedBand(charge, band.quantity),
          pricing_currency: currency,
          pricing_amount: exact,
          band: bandView({ rated, pool }, band),
          meter_value: volumeView(metered.metric, plain(band.units), currency),
          ...(band.priceBound ? { price_bound: band.priceBound } : {}),
          split_pricing: splitView(charge, values),
          ...(included ? { included_volume_details: includedView(included, currency) } : {}),
          description,
        },
      }
    }),
  )
  return lines.length === 0 ? null : lines.map((line, index) => ({ sub_line_order: index, ...line }))
}

/** The values of the properties that split the price; a value that events lack is left out. */
const splitView = ({ split }: Charge, values: SplitPart['values']) => ({
  meter_properties: (split ?? []).map(({ id, reference }, index) => {
    const value = values[index] ?? null
    return { id, reference, ...(value === null ? {} : { value }) }
  }),
})

/** The metered volume of a charge; null when it is not metered. */
export function meterValueView(charge: Charge, volume: Volume): MeterValueView | null {
  const { calculation, schedule } = charge
  if (!calculation) return null
  return {
    id: calculation.id,
    reference: calculation.reference,
    ...volumeView(volume.metric, plain(volume.quantity), schedule.pricing_currency),
    count: plain(volume.count),
  }
}

/** A quantity of metered numbers or money. */
export const volumeView = (metric: Volume['metric'], quantity: string, currency: string): MeterValueView =>
  metric === 'AMOUNT' ? { type: metric, amount: { quantity, currency } } : { type: metric, number: quantity }

const fractionView = ({ numerator, denominator }: Fraction) => ({
  numerator: plain(numerator),
  denominator: plain(denominator),
})

/** A band as it was charged. */
export function bandView(
  { rated: price, pool }: Pick<RatedCharge, 'rated' | 'pool'>,
  { band, lowerBound, topBound, bandIndex }: BandCharge,
): BandView {
  const currency = price.total.currency
  const money = (quantity: typeof band.amount) => (quantity === null ? null : amountView(amount(quantity, currency)))
  const isMoney = price.volume.metric === 'AMOUNT'
  const bound = (quantity: typeof topBound) =>
    quantity === null
      ? null
      : band.boundOf === 'COUNT'
        ? { count: plain(quantity) }
        : isMoney
          ? { amount: amountView(amount(quantity, currency)) }
          : { number: plain(quantity) }
  const tiered = topBound !== null || bandIndex > 0
  return withoutNulls({
    amount: money(band.amount),
    percentage: band.percentage === null ? null : plain(band.percentage),
    fixed_amount: money(band.fixedAmount),
    minimum_amount: money(band.minimumAmount),
    maximum_amount: money(band.maximumAmount),
    minimum_number: band.minimumNumber === null ? null : plain(band.minimumNumber),
    maximum_number: band.maximumNumber === null ? null : plain(band.maximumNumber),
    block_size: blockView(band, currency),
    tier_lower_bound: tiered ? bound(lowerBound) : null,
    tier_top_bound: bound(topBound),
    volume_share: pool ? shareText(pool.share) : null,
  })
}

function blockView({ blockSize, blockOf }: BandCharge['band'], currency: string) {
  if (blockOf === 'MONEY') return { amount: amountView(amount(blockSize, currency)) }
  return blockSize.eq(ONE) ? null : { number: plain(blockSize) }
}

type WithoutNulls<T> = { [Name in keyof T]?: NonNullable<T[Name]> }
function withoutNulls<T extends object>(of: T): WithoutNulls<T> {
  const all: Partial<Record<string, unknown>> = { ...of }
  // Field by field: every band of every line has eleven fields, and most are null.
  const found: typeof all = {}
  for (const name of Object.keys(all)) if (all[name] !== null) found[name] = all[name]
  return found as WithoutNulls<T>
}

function describe(of: RatedCharge, currency: string): string {
  const { rated, included, pool, before, scale, share, charge } = of
  const bands = of.parts
    ? `${of.parts.length} ${of.parts.length === 1 ? 'value' : 'values'} of ${(charge.split ?? []).map(({ reference }) => reference).join(', ')}, each priced on its own`
    : rated.charges.map(band => describeCharge(band, currency)).join('; ')
  const persisted = persistedOf(charge)
  const parts = [
    ...(isRatedPerEvent(charge) ? ['each event priced on its own'] : []),
    bands,
    ...convertedText(of, currency),
    ...poolText(pool),
    ...tieringText(of),
    ...(included ? includedText(included, currency) : []),
    ...(persisted ? [`counted on from ${persistedText(charge, persisted)} at ${formatInstant(persisted.at)}`] : []),
    ...(before ? [`less ${plain(before.total.quantity)} ${currency} charged before`] : []),
    ...(isWhole(scale) ? [] : [`× ${ratio(scale)} of the price period`]),
    ...(isWhole(share) ? [] : [`× ${prorationPeriod(charge).coveredDays} ÷ ${prorationPeriod(charge).fullDays} days`]),
  ]
  return parts.filter(part => part !== '').join(', ')
}

/** `× 800 ÷ 1500 of the group` */
const poolText = (pool: RatedCharge['pool']): string[] => (pool ? [`× ${ratio(pool.share)} of the group`] : [])

/** `tier of 50 seats_max` */
const tieringText = ({ charge, position, rated }: RatedCharge): string[] =>
  position && charge.tiering
    ? [`tier of ${plain(position)} ${isByCount(rated) ? 'events of ' : ''}${charge.tiering.calculation.reference}`]
    : []

/** Whether the bounds of its bands are numbers of events. */
const isByCount = ({ charges }: RatedCharge['rated']): boolean => charges[0]?.band.boundOf === 'COUNT'

function tieringView({ charge, position, rated }: RatedCharge): MeterValueView | null {
  if (!position || !charge.tiering) return null
  const { id, reference, value_type: type } = charge.tiering.calculation
  if (isByCount(rated)) return { id, reference, type: type ?? 'NUMBER', count: plain(position) }
  return { id, reference, ...volumeView(type ?? 'NUMBER', plain(position), charge.schedule.pricing_currency) }
}

/** A share as a decimal of at most twelve places; the description has it exactly. */
const shareText = ({ numerator, denominator }: Fraction): string => plain(roundHalfUp(numerator.div(denominator), 12))

const ratio = ({ numerator, denominator }: Fraction): string =>
  denominator.eq(decimalOfInteger(1)) ? plain(numerator) : `${plain(numerator)} ÷ ${plain(denominator)}`
