// What a line shows besides what is stored: of a band the included volume that went before it, and of a meter value its part of the
// whole. Both follow from other members of the line, so that what FINAL invoices store, and are verified by, does not grow.
import { type Decimal, decimal, decimalOfInteger, max, min, plain, quotient, ZERO } from '../../../../shared/decimal.ts'
import type { InvoiceContent, LineView, MeterValueView, PriceDetailsView } from '../schema.ts'

type Periods = InvoiceContent['periods']

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

const withRatio = (value: MeterValueView, ratio: string): MeterValueView => ({ ...value, ratio })

/** The part of the line's usage that a sub line prices; the part of the period that a prorated line pays for. */
function withParts(details: PriceDetailsView, total: Decimal | null): PriceDetailsView {
  const { meter_value: value, proration } = details
  if (!value) return details
  if (total && !total.eq(ZERO)) return { ...details, meter_value: withRatio(value, ratioOf(quantityOf(value), total)) }
  if (!proration) return details
  const { covered_days, days } = proration
  return { ...details, meter_value: withRatio(value, ratioOf(decimalOfInteger(covered_days), decimalOfInteger(days))) }
}

function shownLine(line: LineView): LineView {
  const { details, sub_lines } = line
  if (!sub_lines?.length && !details.included_volume_details && !details.proration) return line
  const volume = usedVolume(details)
  const shown = withParts(withVolume(details, volume), null)
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
  return { ...line, details: shown, sub_lines: subLines }
}

const shown = new WeakMap<Periods, Periods>()

/**
 * The periods with what their lines show. Of the same periods they are the same object: a change of an invoice is stored by what
 * differs between two views of it, and what both share is neither written out nor compared.
 */
export function shownPeriods(periods: Periods): Periods {
  const known = shown.get(periods)
  if (known) return known
  const made = periods.map(period => ({
    ...period,
    groups: period.groups.map(group => ({ ...group, lines: group.lines.map(shownLine) })),
  }))
  shown.set(periods, made)
  return made
}
