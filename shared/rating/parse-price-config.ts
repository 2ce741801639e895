// From the wire shape of a price (decimal strings, snake_case) to what `rate` takes. The catalog calls it to refuse a
// bad price when it is saved; the invoice builder calls it to rate. One reading, so what was accepted can be billed.
import { type Decimal, decimal, isPlainDecimal, ONE, ZERO } from '../decimal.ts'
import { type Band, EMPTY_BAND } from './price.ts'
import { isSupportedPricingType, type PriceConfig, SUPPORTED_PRICING_TYPES, type SupportedPricingType } from './rate.ts'

type Given<Value> = Value | null | undefined
export type AmountInput = { readonly quantity: string; readonly currency: string }
export type MeterValueInput = {
  readonly number?: Given<string>
  readonly amount?: Given<AmountInput>
  readonly count?: Given<string>
}
/** `PricingItemConfigBand` as it travels and is stored. */
export type BandInput = {
  readonly amount?: Given<AmountInput>
  readonly percentage?: Given<string>
  readonly credits?: Given<unknown>
  readonly fixed_amount?: Given<AmountInput>
  readonly minimum_amount?: Given<AmountInput>
  readonly maximum_amount?: Given<AmountInput>
  readonly minimum_number?: Given<string>
  readonly maximum_number?: Given<string>
  readonly block_size?: Given<MeterValueInput>
  readonly tier_top_bound?: Given<MeterValueInput>
}
export type PriceConfigInput = { readonly pricing_type: string; readonly bands?: Given<readonly BandInput[]> }

export type PriceConfigContext = {
  /** What is metered: plain numbers (also units, seats and lump sums) or money. */
  readonly metric: 'NUMBER' | 'AMOUNT'
  /** The pricing currency; absent, the first amount of the bands decides. */
  readonly currency?: string
}

/** `field` is a dotted path inside the configuration: `bands.1.tier_top_bound`. */
export type PriceConfigFault = { readonly field: string; readonly message: string }
export type PriceConfigReading =
  | { readonly kind: 'ok'; readonly config: PriceConfig }
  | { readonly kind: 'fault'; readonly fault: PriceConfigFault }

/** Rating walks the bands of a price for every line, so their number is bounded. */
export const BANDS_MAX = 200
/** ISO 4217 "no currency": what a price without any amount is in until a schedule gives it one. */
const NO_CURRENCY = 'XXX'
const SINGLE_BAND: readonly SupportedPricingType[] = ['FLAT', 'FIXED']
const TIERED_BANDS: readonly SupportedPricingType[] = ['TIERED', 'TOP_TIERED', 'STAIR_STEP']
const LUMP_SUM: readonly SupportedPricingType[] = ['FIXED', 'STAIR_STEP']

class Fault extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

type Reader = { readonly type: SupportedPricingType; readonly metric: 'NUMBER' | 'AMOUNT'; readonly currency: string }

function readDecimal(field: string, text: string): Decimal {
  if (!isPlainDecimal(text)) throw new Fault(field, `${field} must be a decimal of at most 26 and 12 digits.`)
  return decimal(text)
}

function readAmount(reader: Reader, field: string, input: Given<AmountInput>): Decimal | null {
  if (input === null || input === undefined) return null
  if (input.currency !== reader.currency) {
    throw new Fault(`${field}.currency`, `${field} is in ${input.currency}, the price is in ${reader.currency}.`)
  }
  return readDecimal(`${field}.quantity`, input.quantity)
}

function readNumber(field: string, input: Given<string>): Decimal | null {
  return input === null || input === undefined ? null : readDecimal(field, input)
}

function readMeterValue(reader: Reader, field: string, input: Given<MeterValueInput>): Decimal | null {
  if (input === null || input === undefined) return null
  const values = [
    readNumber(`${field}.number`, input.number),
    readAmount(reader, `${field}.amount`, input.amount),
    readNumber(`${field}.count`, input.count),
  ].filter(value => value !== null)
  const [value] = values
  if (value === undefined || values.length > 1)
    throw new Fault(field, `${field} takes one of number, amount and count.`)
  return value
}

function readTopBound(reader: Reader, field: string, input: Given<MeterValueInput>): Decimal | null {
  if (input === null || input === undefined) return null
  if (input.count !== null && input.count !== undefined) {
    throw new Fault(`${field}.count`, 'Tiers by number of events are not supported; bound the metered value instead.')
  }
  if (reader.metric === 'NUMBER' && input.amount) {
    throw new Fault(`${field}.amount`, 'The metric counts numbers, so the bound must be a number.')
  }
  return readMeterValue(reader, field, input)
}

function checkBand(reader: Reader, field: string, band: Band): void {
  const { type, metric } = reader
  if (band.blockSize.lte(ZERO)) throw new Fault(`${field}.block_size`, 'A block size must be greater than 0.')
  if (band.percentage !== null && (metric === 'NUMBER' || LUMP_SUM.includes(type))) {
    throw new Fault(`${field}.percentage`, 'A percentage prices metered amounts by FLAT, TIERED or TOP_TIERED only.')
  }
  if (LUMP_SUM.includes(type) && band.amount !== null && band.fixedAmount !== null) {
    throw new Fault(`${field}.amount`, `${type} asks one lump sum: give fixed_amount or amount, not both.`)
  }
  if (LUMP_SUM.includes(type) && band.amount === null && band.fixedAmount === null) {
    throw new Fault(`${field}.fixed_amount`, `${type} needs a fixed_amount.`)
  }
  if (type !== 'FLAT' && (band.minimumNumber !== null || band.maximumNumber !== null)) {
    const name = band.minimumNumber === null ? 'maximum_number' : 'minimum_number'
    throw new Fault(`${field}.${name}`, 'A minimum or maximum number is supported by FLAT only.')
  }
  if (band.minimumNumber && band.maximumNumber?.lt(band.minimumNumber)) {
    throw new Fault(`${field}.maximum_number`, 'maximum_number must not be below minimum_number.')
  }
  if (band.minimumAmount && band.maximumAmount?.lt(band.minimumAmount)) {
    throw new Fault(`${field}.maximum_amount`, 'maximum_amount must not be below minimum_amount.')
  }
}

function readBand(reader: Reader, index: number, input: BandInput): Band {
  const field = `bands.${index}`
  if (input.credits !== null && input.credits !== undefined) {
    throw new Fault(`${field}.credits`, 'Prices in credits are not supported.')
  }
  const band: Band = {
    amount: readAmount(reader, `${field}.amount`, input.amount),
    percentage: readNumber(`${field}.percentage`, input.percentage),
    fixedAmount: readAmount(reader, `${field}.fixed_amount`, input.fixed_amount),
    minimumAmount: readAmount(reader, `${field}.minimum_amount`, input.minimum_amount),
    maximumAmount: readAmount(reader, `${field}.maximum_amount`, input.maximum_amount),
    minimumNumber: readNumber(`${field}.minimum_number`, input.minimum_number),
    maximumNumber: readNumber(`${field}.maximum_number`, input.maximum_number),
    blockSize: readMeterValue(reader, `${field}.block_size`, input.block_size) ?? ONE,
    topBound: readTopBound(reader, `${field}.tier_top_bound`, input.tier_top_bound),
  }
  checkBand(reader, field, band)
  return band
}

/** Bounds rise strictly from above 0, and the last band has none, so every volume lies in exactly one band. */
function checkBounds(bands: readonly Band[]): void {
  let floor = ZERO
  for (const [index, band] of bands.entries()) {
    const field = `bands.${index}.tier_top_bound`
    const last = index === bands.length - 1
    if (last !== (band.topBound === null)) {
      throw new Fault(
        field,
        last ? 'The last band must have no upper bound.' : 'Only the last band has no upper bound.',
      )
    }
    if (band.topBound === null) return
    if (band.topBound.lte(floor)) throw new Fault(field, 'Upper bounds must rise from band to band, the first above 0.')
    floor = band.topBound
  }
}

function checkCount(type: SupportedPricingType, count: number): void {
  if (count > BANDS_MAX) throw new Fault('bands', `A price has at most ${BANDS_MAX} bands.`)
  if (count === 0 && type !== 'NONE') throw new Fault('bands', `${type} needs at least one band.`)
  if (count > 1 && SINGLE_BAND.includes(type)) throw new Fault('bands', `${type} has exactly one band.`)
}

const amountsOf = (band: BandInput): Given<AmountInput>[] => [
  band.amount,
  band.fixed_amount,
  band.minimum_amount,
  band.maximum_amount,
  // A price of percentages alone is in the currency its tiers are bounded in.
  band.tier_top_bound?.amount,
]

/** The currency the bands name first, or null when they name none. */
export function currencyOfBands(bands: Given<readonly BandInput[]>): string | null {
  for (const band of bands ?? []) {
    for (const input of amountsOf(band)) if (input) return input.currency
  }
  return null
}

function read(input: PriceConfigInput, context: PriceConfigContext): PriceConfig {
  const type = input.pricing_type
  if (!isSupportedPricingType(type)) {
    throw new Fault('pricing_type', `${type} is not supported; use one of ${SUPPORTED_PRICING_TYPES.join(', ')}.`)
  }
  const inputs = input.bands ?? []
  checkCount(type, inputs.length)
  const currency = context.currency ?? currencyOfBands(inputs) ?? NO_CURRENCY
  const reader = { type, metric: context.metric, currency }
  // What is not billed needs no price, so NONE keeps no band it was sent.
  const [first = EMPTY_BAND, ...rest] =
    type === 'NONE' ? [] : inputs.map((band, index) => readBand(reader, index, band))
  if (TIERED_BANDS.includes(type)) checkBounds([first, ...rest])
  else if (first.topBound !== null) throw new Fault('bands.0.tier_top_bound', `${type} has no tiers.`)
  return { pricingType: type, currency, bands: [first, ...rest] }
}

/** Reads and checks a price; never throws on what a caller sent, but names the field at fault. */
export function parsePriceConfig(input: PriceConfigInput, context: PriceConfigContext): PriceConfigReading {
  try {
    return { kind: 'ok', config: read(input, context) }
  } catch (error) {
    if (error instanceof Fault) return { kind: 'fault', fault: { field: error.field, message: error.message } }
    throw error
  }
}
