// The lines of an invoice as rows of its table: quantity with its unit, price, bands, and the explanation of an amount
// that was rounded, limited or prorated.
import { decimal, ZERO } from '../../../../../shared/decimal.ts'
import type { BandView, LineView, MoneyView, PriceDetailsView, SubLineView } from '../../schema.ts'
import type { Formats } from '../words/formats.ts'
import type { Words } from '../words/table.ts'
import { clauseIn } from '../words/words.ts'
import type { Row } from './document-model.ts'
import type { UnitName } from './presentation.ts'
import { printable } from './printable.ts'

export type RowContext = {
  readonly words: Words
  readonly formats: Formats
  readonly units: ReadonlyMap<string, UnitName>
}

/** The row of a line, followed by one for each of its bands or customers. */
export function lineRows(line: LineView, context: RowContext): Row[] {
  const { words, formats } = context
  const figures = {
    money: (quantity: string, currency: string) => formats.money({ quantity, currency }),
    number: formats.number,
  }
  if (line.type === 'DISCOUNT' || line.type === 'COMMITMENT' || line.type === 'MARKUP') {
    const notes = [clauseIn(words, figures, line.details.description), ...roundingNote(line.details, context)]
    return [
      {
        kind: 'DISCOUNT',
        text: printable(clauseIn(words, figures, line.description)),
        notes: notes.map(printable).filter(note => note !== ''),
        quantity: '',
        price: '',
        amount: formats.money(line.amount_excluding_tax),
      },
    ]
  }
  const details = billed(line)
  const unit = unitOf(line, context)
  return [
    {
      kind: 'LINE',
      text: printable(line.description),
      notes: notesOf(line, context),
      quantity: quantityText(details, unit, context),
      price: priceText(details, context),
      amount: formats.money(line.amount_excluding_tax),
    },
    ...(line.sub_lines ?? []).map(sub => subRow(sub, unit, context)),
  ]
}

/** The quantity that the line bills; the details may explain it by the quantity of a longer time. */
const billed = ({ details, meter_value }: LineView): PriceDetailsView =>
  meter_value ? { ...details, meter_value } : details

function unitOf({ product_items }: LineView, { units }: RowContext): UnitName | null {
  const [item] = product_items
  return item ? (units.get(item.id) ?? null) : null
}

function subRow(sub: SubLineView, unit: UnitName | null, context: RowContext): Row {
  const ofCustomer = sub.processing_only_customer_id !== undefined
  return {
    kind: 'BAND',
    text: ofCustomer ? printable(sub.description) : bandText(sub.details.band, context) || printable(sub.description),
    notes: ofCustomer ? [] : boundNotes(sub.details, context),
    quantity: quantityText(sub.details, unit, context),
    price: ofCustomer ? '' : priceText(sub.details, context),
    amount: context.formats.money(sub.details.amount),
  }
}

function quantityText(
  { meter_value: value }: PriceDetailsView,
  unit: UnitName | null,
  { formats }: RowContext,
): string {
  if (!value) return formats.number('1')
  if (value.amount) return formats.money(value.amount)
  if (value.number === null || value.number === undefined) return ''
  const name = unit === null ? '' : ` ${printable(value.number === '1' ? unit.singular : unit.plural)}`
  return `${formats.number(value.number)}${name}`
}

function priceText({ band }: PriceDetailsView, { words, formats }: RowContext): string {
  if (!band) return ''
  const { number: units, amount: money } = band.block_size ?? {}
  const block = money ? formats.money(money) : units ? formats.number(units) : null
  const parts = [
    ...(band.fixed_amount ? [formats.money(band.fixed_amount)] : []),
    ...(band.amount ? [`${formats.money(band.amount)}${block ? ` ${words.per(block)}` : ''}`] : []),
    ...(band.percentage ? [`${formats.number(band.percentage)} %`] : []),
  ]
  return parts.join(' + ')
}

/** `From 1,000 to 5,000`, or `From 1,000 to 5,000 events`. */
function bandText(band: BandView | null | undefined, { words, formats }: RowContext): string {
  const bound = (quantity: BandView['tier_top_bound']) => {
    const number = quantity?.number ?? quantity?.count
    return quantity?.amount ? formats.money(quantity.amount) : number ? formats.number(number) : null
  }
  const ofEvents = (text: string): string =>
    (band?.tier_top_bound?.count ?? band?.tier_lower_bound?.count) ? words.events(text) : text
  const lower = bound(band?.tier_lower_bound)
  const top = bound(band?.tier_top_bound)
  const { number, count, amount } = band?.tier_lower_bound ?? {}
  const fromZero = isZero(number ?? count ?? amount?.quantity)
  if (top !== null) return lower === null || fromZero ? words.upTo(ofEvents(top)) : words.between(lower, ofEvents(top))
  return lower === null || fromZero ? '' : words.above(ofEvents(lower))
}

const isZero = (quantity: string | null | undefined): boolean =>
  quantity !== null && quantity !== undefined && decimal(quantity).eq(ZERO)

function notesOf(line: LineView, context: RowContext): string[] {
  const { details } = line
  const { words, formats } = context
  const { proration, previously_billed: before } = details
  return [
    ...(proration
      ? [words.prorated(formats.number(String(proration.covered_days)), formats.number(String(proration.days)))]
      : []),
    ...(before ? [words.previouslyBilled(formats.money(before.pricing_amount))] : []),
    ...(details.used_exchange_rates ?? []).map(rate => exchangeText(rate, context)),
    ...boundNotes(details, context),
    ...roundingNote(details, context),
  ]
}

/** `1 EUR = 1.0832 USD (ECB, 2026-03-31)`: the same in every language. */
const exchangeText = (
  {
    base_currency,
    currency,
    rate,
    rate_timestamp,
    source,
  }: NonNullable<PriceDetailsView['used_exchange_rates']>[number],
  { formats }: RowContext,
): string =>
  `1 ${base_currency} = ${formats.number(rate)} ${currency} (${printable(source)}, ${rate_timestamp.slice(0, 10)})`

function boundNotes({ price_bound: bound, band, pricing_currency: currency }: PriceDetailsView, context: RowContext) {
  const name = bound ? context.words.bounds[bound] : undefined
  if (!bound || name === undefined || !band) return []
  const { formats } = context
  const limits: Readonly<Record<string, MoneyView | string | null | undefined>> = {
    MINIMUM_NUMBER: band.minimum_number,
    MAXIMUM_NUMBER: band.maximum_number,
    MINIMUM_AMOUNT: band.minimum_amount,
    MAXIMUM_AMOUNT: band.maximum_amount,
  }
  const limit = limits[bound]
  if (!limit) return [name]
  // A bound on the number is money per event: the currency of the price.
  const shown = typeof limit === 'string' ? formats.money({ quantity: limit, currency }) : formats.money(limit)
  return [`${name}: ${shown}`]
}

/** Shows the exact amount where it differs from the printed one. */
function roundingNote({ amount, pricing_amount: exact }: PriceDetailsView, { words, formats }: RowContext): string[] {
  if (exact.currency !== amount.currency || decimal(exact.quantity).eq(decimal(amount.quantity))) return []
  return [words.rounded(formats.money(exact), formats.money(amount))]
}
