// The lines, allowances and charges of an e-invoice from the lines of the invoice. Every amount is the printed one, so
// that lines add up to the totals (BR-CO-10 to BR-CO-13).
import { lastLocalDay, localDateOf, type Zone } from '../../../../../shared/billing/local-days.ts'
import { type Decimal, decimal, ONE, roundHalfUp, ZERO } from '../../../../../shared/decimal.ts'
import { currencyExponent, roundParts } from '../../../../../shared/money.ts'
import { at, interval } from '../../../../../shared/time.ts'
import { summaryOfShare } from '../../document/tax/summary-of-share.ts'
import type { InvoiceView, LineView, TaxCategoryView } from '../../schema.ts'
import { lineRows, type RowContext } from '../model/line-rows.ts'
import { printable } from '../model/printable.ts'
import type { Adjustment, Days, EInvoiceLine, Vat } from './e-invoice-model.ts'
import { ONE_UNIT_CODE, unitCodeOf } from './unit-codes.ts'

export type LineContext = RowContext & {
  readonly zone: Zone
  readonly summaries: readonly TaxCategoryView[]
  /** The VAT of each of them, in the same order. */
  readonly vats: readonly Vat[]
  /** -1 for a credit note, whose amounts are positive in an e-invoice. */
  readonly sign: Decimal
}

/** The part of a line that has one VAT. */
type Part = {
  readonly line: LineView
  readonly summary: number
  readonly whole: boolean
  readonly period: Days | null
  readonly net: Decimal
}

/** What the lines become: discounts are allowances, minimums and markups are charges, the rest are lines. */
export function eInvoiceLines(
  invoice: InvoiceView,
  context: LineContext,
): { readonly lines: EInvoiceLine[]; readonly adjustments: Adjustment[] } {
  const parts = partsOf(invoice, context)
  const isRevenue = ({ line }: Part): boolean => line.type === 'REVENUE'
  // At least one line is mandatory (BR-16), so without any revenue the rest are lines.
  const ofWhole = parts.some(isRevenue) ? parts.filter(part => !isRevenue(part)) : []
  return {
    lines: parts.filter(part => !ofWhole.includes(part)).map(part => lineOf(part, invoice, context)),
    adjustments: ofWhole.map(part => adjustmentOf(part, context)),
  }
}

/** The parts in order. In an UNROUNDED invoice they are rounded so that they sum to the printed base of their summary. */
function partsOf(invoice: InvoiceView, { zone, sign, summaries }: LineContext): Part[] {
  const exact = (invoice.periods ?? []).flatMap(({ groups }) =>
    groups.flatMap(group =>
      (group.lines ?? []).flatMap(line =>
        line.tax_categories.map(share => ({
          line,
          summary: summaryOfShare(share, summaries),
          whole: line.tax_categories.length === 1,
          period: daysOf(group.start_at, group.end_at, zone),
          net: decimal(share.base_amount.quantity).times(sign),
        })),
      ),
    ),
  )
  const rounded = new Map<(typeof exact)[number], Decimal>()
  for (const [index, summary] of summaries.entries()) {
    const own = exact.filter(part => part.summary === index)
    if (own.length === 0) continue
    const nets = own.map(({ net }) => net)
    const total = decimal(summary.base_amount.quantity).times(sign)
    const places = currencyExponent(invoice.billing_currency)
    for (const [place, net] of roundParts(nets, total, places).entries()) {
      const part = own[place]
      if (part) rounded.set(part, net)
    }
  }
  return exact.map(part => ({ ...part, net: rounded.get(part) ?? part.net }))
}

/** The first and the last day of a time in the zone of the invoice. */
export function daysOf(start: string, end: string, zone: Zone): Days {
  const from = at(start)
  const to = at(end)
  const first = localDateOf(from, zone)
  return { first, last: to > from ? lastLocalDay(interval(from, to), zone) : first }
}

function lineOf(part: Part, invoice: InvoiceView, context: LineContext): EInvoiceLine {
  const { line, net, summary, period } = part
  const vat = vatAt(context, summary)
  const [row, ...bands] = lineRows(line, context)
  const unitPrice = pricing(part, invoice)
  const [item] = line.product_items
  const priced = unitPrice
    ? { ...unitPrice, unitCode: unitCodeOf(item && context.units.get(item.id)) }
    : { quantity: net.lt(ZERO) ? ONE.neg() : ONE, unitCode: ONE_UNIT_CODE, price: net.abs(), baseQuantity: ONE }
  const billed = line.meter_value ?? line.details.meter_value
  const isHidden = billed !== undefined && priced.quantity.abs().eq(ONE) && row?.quantity !== undefined
  const notes = [
    ...(isHidden && row.quantity !== '' ? [`${context.words.quantity}: ${row.quantity}`] : []),
    ...(row?.notes ?? []),
    ...bands.map(({ text, quantity, price, amount }) => `${text}: ${quantity} × ${price} = ${amount}`),
  ]
  return {
    name: row?.text || printable(line.description) || line.id,
    note: notes.length === 0 ? null : printable(notes.join('; ')),
    ...priced,
    net,
    vat,
    period,
  }
}

/** Quantity and unit price where they give the amount exactly as printed; null where tiers, bounds or rounding do not. */
function pricing({ line, whole, net }: Part, { billing_currency: currency }: InvoiceView) {
  const { band, meter_value: explained } = line.details
  const number = (line.meter_value ?? explained)?.number
  if (!whole || !number || !band?.amount || band.amount.currency !== currency) return null
  const quantity = decimal(number)
  const price = decimal(band.amount.quantity)
  const baseQuantity = decimal(band.block_size?.number ?? '1')
  if (price.lt(ZERO) || baseQuantity.lte(ZERO)) return null
  const product = roundHalfUp(quantity.times(price).div(baseQuantity), currencyExponent(currency))
  return product.eq(net) ? { quantity, price, baseQuantity } : null
}

function adjustmentOf({ line, net, summary }: Part, context: LineContext): Adjustment {
  const [row] = lineRows(line, context)
  const reducing = net.lt(ZERO) || (net.eq(ZERO) && line.type !== 'COMMITMENT' && line.type !== 'MARKUP')
  return {
    kind: reducing ? 'ALLOWANCE' : 'CHARGE',
    reason: row?.text || printable(line.description) || line.id,
    amount: net.abs(),
    vat: vatAt(context, summary),
  }
}

function vatAt({ vats }: LineContext, summary: number): Vat {
  const vat = vats[summary]
  if (!vat) throw new Error('every line has the tax of a summary')
  return vat
}
