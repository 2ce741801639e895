// What a line shows besides what is stored: of a band the included volume that went before it, and of a meter value its part of the
// whole. Both follow from other members of the line, so that what FINAL invoices store, and are verified by, does not grow.
import {
  type Decimal,
  decimal,
  decimalOfInteger,
  max,
  min,
  plain,
  quotient,
  sum,
  ZERO,
} from '../../../../shared/decimal.ts'
import { extended } from '../../../../shared/extended.ts'
import type { PausingWork } from '../../../../shared/pausing-work.ts'
import type { InvoiceContent, LineView, MeterValueView, PriceDetailsView, SubLineView } from '../schema.ts'
import { mapLines } from './map-lines.ts'

type Reported = NonNullable<PriceDetailsView['report_meter_values']>[number]

const PLACES = 12

const quantityOf = ({ number, amount }: Pick<MeterValueView, 'number' | 'amount'>): Decimal =>
  decimal(number ?? amount?.quantity ?? '0')

/** What the usage took of its included volume; null where nothing. */
function usedVolume({ included_volume_details: of }: PriceDetailsView) {
  if (!of) return null
  const { available_included_volume: available, period_volume: period } = of
  const least = (used: Decimal, left: Decimal): Decimal => min(max(used, ZERO), left)
  const quantity = least(quantityOf(period), quantityOf(available))
  const count = least(decimal(period.count ?? '0'), decimal(available.count ?? '0'))
  if (quantity.eq(ZERO) && count.eq(ZERO)) return null
  const { amount } = period
  return {
    ...(quantity.eq(ZERO)
      ? {}
      : amount
        ? { amount: { quantity: plain(quantity), currency: amount.currency } }
        : { number: plain(quantity) }),
    ...(count.eq(ZERO) ? {} : { count: plain(count) }),
  }
}

const withVolume = (details: PriceDetailsView, volume: ReturnType<typeof usedVolume>): PriceDetailsView =>
  volume && details.band ? { ...details, band: { ...details.band, included_volume: volume } } : details

const ratioOf = (part: Decimal, whole: Decimal): string => plain(quotient(part, whole, PLACES))

const withRatio = (value: MeterValueView, ratio: string): MeterValueView => extended(value, { ratio })

/** The part of the line's usage that a sub line prices; the part of the period that a prorated line pays for. */
function withParts(details: PriceDetailsView, total: Decimal | null): PriceDetailsView {
  const { meter_value: value, proration } = details
  if (!value) return details
  if (total && !total.eq(ZERO)) return { ...details, meter_value: withRatio(value, ratioOf(quantityOf(value), total)) }
  if (!proration) return details
  const { covered_days, days } = proration
  return { ...details, meter_value: withRatio(value, ratioOf(decimalOfInteger(covered_days), decimalOfInteger(days))) }
}

/** Of usage in several currencies the part of each, and of reported usage its part of what the line bills. */
function withRatios(details: PriceDetailsView): PriceDetailsView {
  const { meter_values: values, report_meter_values: reports, meter_value: billed } = details
  const total = sum((values ?? []).map(value => decimal(value.amount_in_pricing_currency.quantity)))
  const ratio = (part: Decimal, of: Decimal) => ({ ratio: ratioOf(part, of) })
  const isAlike = (report: Reported): boolean =>
    billed !== undefined && report.amount?.currency === billed.amount?.currency && !quantityOf(billed).eq(ZERO)
  return {
    ...details,
    ...(values && {
      meter_values: values.map(value => ({
        ...value,
        ...(total.eq(ZERO) ? {} : ratio(decimal(value.amount_in_pricing_currency.quantity), total)),
      })),
    }),
    ...(reports && {
      report_meter_values: reports.map(report => ({
        ...report,
        ...(billed && isAlike(report) ? ratio(quantityOf(report), quantityOf(billed)) : {}),
      })),
    }),
  }
}

/** Of the sub lines of customers other than the subscription's own, the part of each in what these have together. */
function withShares(sub_lines: readonly SubLineView[], others: ReadonlySet<string>): SubLineView[] {
  const shareOf = ({ processing_only_customer_id: id, details }: SubLineView): Decimal | null => {
    const share = details.meter_value_share_of_total
    return id !== undefined && others.has(id) && share !== undefined ? decimal(share) : null
  }
  const total = sum(sub_lines.map(sub => shareOf(sub) ?? ZERO))
  return sub_lines.map(sub => {
    const share = shareOf(sub)
    if (share === null || total.eq(ZERO)) return sub
    const part = ratioOf(share, total)
    return { ...sub, details: { ...sub.details, meter_value_share_of_processing_only_customer_total: part } }
  })
}

function shownLine(line: LineView, others: ReadonlySet<string>): LineView {
  const { details, sub_lines } = line
  const hasRatios = details.meter_values || details.report_meter_values
  if (!sub_lines?.length && !details.included_volume_details && !details.proration && !hasRatios) return line
  const volume = usedVolume(details)
  const shown = withRatios(withParts(withVolume(details, volume), null))
  if (!sub_lines) return { ...line, details: shown }
  const total = details.meter_value ? quantityOf(details.meter_value) : null
  // Bands share one volume, which goes before the first of them; each value of a split price has its own.
  const seen = new Set<string>()
  const subLines = sub_lines.map(sub => {
    const key = JSON.stringify(sub.details.split_pricing ?? null)
    const own = seen.has(key) ? null : (usedVolume(sub.details) ?? (sub.details.split_pricing ? null : volume))
    if (sub.details.band) seen.add(key)
    return { ...sub, details: withParts(withVolume(sub.details, own), total) }
  })
  return { ...line, details: shown, sub_lines: withShares(subLines, others) }
}

/** The periods with what their lines show. */
export function* shownPeriods(
  content: Pick<InvoiceContent, 'periods' | 'processing_only_customers'>,
): PausingWork<InvoiceContent['periods']> {
  const others = new Set((content.processing_only_customers ?? []).map(({ id }) => id))
  return yield* mapLines(content.periods, { line: line => shownLine(line, others) })
}
