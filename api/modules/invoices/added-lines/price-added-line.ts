// Turns an added line into a draft line: rated by its own price, and explained like any other. Pure.
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import { decimal, ONE, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { describeCharge } from '../../../../shared/rating/describe.ts'
import { parsePriceConfig } from '../../../../shared/rating/parse/parse-price-config.ts'
import { amountVolume, numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { isLumpSum, type PriceConfig, rate } from '../../../../shared/rating/rate.ts'
import { at, interval } from '../../../../shared/time.ts'
import { type DraftLine, NO_GROUP, NO_SCOPE } from '../document/draft-invoice.ts'
import type { BandView, LineView } from '../schema.ts'
import { carriedTax } from './carried-tax.ts'
import type { AddedLineBody, StoredLine } from './schema.ts'

type Named = { readonly id: string; readonly name: string }

/** The product item that a line sells, from the catalog. */
export type SoldItem = {
  readonly item: LineView['product_items'][number]
  readonly product: Named
  readonly category: Named | null
  readonly taxCategory: TaxCategory
}

/** An added line, with what it sells; null where it names no item. */
export type AddedLine = { readonly id: string; readonly line: StoredLine; readonly sold: SoldItem | null }

export type AddedTo = {
  readonly currency: string
  /** The tax category of a line that names no item. */
  readonly defaultTaxCategory: TaxCategory
}

/** What billing stores with an added line. */
export type AddedSource = { readonly added_line: string }

type Priced = { readonly config: PriceConfig; readonly volume: Volume }

/** Reads the price of a line in this currency. Throws INVALID_FIELD with the member of the line. */
export function priceOfLine(line: AddedLineBody, currency: string): Priced {
  const { pricing_type, pricing_band, volume } = line
  const isFixed = isLumpSum(pricing_type)
  if (isFixed && (volume?.number || volume?.amount))
    throw refused('volume', 'A FIXED line bills one lump sum and takes no volume.')
  if (volume?.number && volume.amount) throw refused('volume', 'Give a number or an amount, not both.')
  const metric = volume?.amount ? 'AMOUNT' : 'NUMBER'
  const reading = parsePriceConfig({ pricing_type, bands: [pricing_band] }, { metric, currency })
  if (reading.kind === 'fault') throw refused(inLine(reading.fault.field), inLine(reading.fault.message))
  return { config: reading.config, volume: isFixed ? numberVolume(ONE) : volumeOf(line, currency) }
}

/** `bands.0.amount` of the price is `pricing_band.amount` of the line, as a field and in the words about it. */
const inLine = (text: string): string => text.replaceAll(/\bbands(\.0)?\b/g, 'pricing_band')

function volumeOf({ volume }: AddedLineBody, currency: string): Volume {
  if (volume?.amount) {
    if (volume.amount.currency !== currency)
      throw refused('volume.amount.currency', `The invoice is in ${currency}; give the amount in it.`)
    return amountVolume(positive(volume.amount.quantity, 'volume.amount.quantity'), currency, ONE)
  }
  if (!volume?.number) throw refused('volume.number', 'A FLAT line needs a volume: how many it bills.')
  return numberVolume(positive(volume.number, 'volume.number'))
}

function positive(text: string, field: string) {
  const quantity = decimal(text)
  if (quantity.lte(ZERO))
    throw refused(field, 'A volume must be above zero. To deduct, send product_item_type DEDUCTION.')
  return quantity
}

const refused = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/** The draft line. Throws INVALID_FIELD when its price cannot be billed in the currency of the invoice. */
export function draftAddedLine({ id, line, sold }: AddedLine, to: AddedTo): DraftLine {
  const { config, volume } = priceOfLine(line, to.currency)
  const { total, charges } = rate(config, volume)
  const type = line.product_item_type ?? sold?.item.type ?? 'REVENUE'
  const quantity = type === 'DEDUCTION' ? total.quantity.neg() : total.quantity
  const source: AddedSource = { added_line: id }
  return {
    key: `added ${id}`,
    kind: 'REVENUE',
    of: {
      ...NO_SCOPE,
      subscriptionId: line.pricing_plan_subscription_id ?? null,
      categoryId: sold?.category?.id ?? null,
      productId: sold?.product.id ?? null,
      productItemId: sold?.item.id ?? null,
    },
    quantity,
    taxCategory: line.tax_category ?? sold?.taxCategory ?? to.defaultTaxCategory,
    ...(line.carried_tax ? { tax: carriedTax(line.carried_tax) } : {}),
    service: interval(at(line.start_at), at(line.end_at)),
    group: {
      ...NO_GROUP,
      category: sold?.category ?? null,
      product: sold?.product ?? null,
      subscriptionId: line.pricing_plan_subscription_id ?? null,
    },
    description: line.pricing_name ?? sold?.item.name ?? '',
    printed: {
      product_items: sold ? [{ ...sold.item, type }] : [],
      pricing_type: line.pricing_type,
      ...(isLumpSum(line.pricing_type) ? {} : { meter_value: volumeView(volume, to.currency) }),
      ...(line.applicable_for_clauses ? { applicable_for_clauses: [...line.applicable_for_clauses] } : {}),
    },
    details: {
      pricing_currency: to.currency,
      pricing_amount: amountView(amount(quantity, to.currency)),
      band: bandView(line),
      description: charges.map(charge => describeCharge(charge, to.currency)).join(' + '),
    },
    source,
  }
}

const volumeView = ({ metric, quantity }: Volume, currency: string) =>
  metric === 'AMOUNT'
    ? { type: metric, amount: amountView(amount(quantity, currency)) }
    : { type: metric, number: plain(quantity) }

/** The given members of the band; it has no others. */
const bandView = ({ pricing_band }: StoredLine): BandView =>
  Object.fromEntries(Object.entries(pricing_band).filter(([, value]) => value !== null && value !== undefined))
