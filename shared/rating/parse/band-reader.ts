// Reads one band from its wire shape (decimal strings, snake_case) into decimals. A fault names its field.
import { type Decimal, decimal, isPlainDecimal, ONE, ZERO } from '../../decimal.ts'
import type { Band, BoundOf, Metric } from '../price.ts'

type Given<Value> = Value | null | undefined
export type AmountInput = { readonly quantity: string; readonly currency: string }
export type MeterValueInput = {
  readonly number?: Given<string>
  readonly amount?: Given<AmountInput>
  readonly count?: Given<string>
}
/** `PricingItemConfigBand` as sent and stored. */
export type BandInput = {
  readonly amount?: Given<AmountInput>
  readonly percentage?: Given<string>
  readonly credits?: Given<{ readonly quantity: string; readonly credit_type_id: string }>
  readonly fixed_amount?: Given<AmountInput>
  readonly minimum_amount?: Given<AmountInput>
  readonly maximum_amount?: Given<AmountInput>
  readonly minimum_number?: Given<string>
  readonly maximum_number?: Given<string>
  readonly block_size?: Given<MeterValueInput>
  readonly tier_top_bound?: Given<MeterValueInput>
}

/** Wire names of a band's members. */
export const BAND_FIELDS: Readonly<Record<keyof Band, keyof BandInput>> = {
  amount: 'amount',
  percentage: 'percentage',
  fixedAmount: 'fixed_amount',
  minimumAmount: 'minimum_amount',
  maximumAmount: 'maximum_amount',
  minimumNumber: 'minimum_number',
  maximumNumber: 'maximum_number',
  blockSize: 'block_size',
  blockOf: 'block_size',
  topBound: 'tier_top_bound',
  boundOf: 'tier_top_bound',
}

/** Why rating cannot price what a caller sent; `field` is a dotted path inside the configuration. */
export class Fault extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

export type ReadingContext = { readonly metric: Metric; readonly currency: string }

function readDecimal(field: string, text: string): Decimal {
  if (!isPlainDecimal(text)) throw new Fault(field, `${field} must be a decimal of at most 26 and 12 digits.`)
  return decimal(text)
}

function readAmount(context: ReadingContext, field: string, input: Given<AmountInput>): Decimal | null {
  if (input === null || input === undefined) return null
  if (input.currency !== context.currency) {
    throw new Fault(`${field}.currency`, `${field} is in ${input.currency}, the price is in ${context.currency}.`)
  }
  return readDecimal(`${field}.quantity`, input.quantity)
}

function readNumber(field: string, input: Given<string>): Decimal | null {
  return input === null || input === undefined ? null : readDecimal(field, input)
}

function readMeterValue(context: ReadingContext, field: string, input: Given<MeterValueInput>): Decimal | null {
  if (input === null || input === undefined) return null
  const values = [
    readNumber(`${field}.number`, input.number),
    readAmount(context, `${field}.amount`, input.amount),
    readNumber(`${field}.count`, input.count),
  ].filter(value => value !== null)
  const [value] = values
  if (value === undefined || values.length > 1)
    throw new Fault(field, `${field} takes one of number, amount and count.`)
  return value
}

const isGiven = (value: unknown): boolean => value !== null && value !== undefined

function readTopBound(context: ReadingContext, field: string, input: Given<MeterValueInput>): Decimal | null {
  if (context.metric === 'NUMBER' && input?.amount) {
    throw new Fault(`${field}.amount`, 'The metric counts numbers, so the bound must be a number.')
  }
  return readMeterValue(context, field, input)
}

const boundOf = (input: Given<MeterValueInput>): BoundOf => (isGiven(input?.count) ? 'COUNT' : 'QUANTITY')

/** Of metered money a block is a number of events (`number` or `count`), or an amount of the money. */
function readBlock(
  context: ReadingContext,
  field: string,
  input: Given<MeterValueInput>,
): Pick<Band, 'blockSize' | 'blockOf'> {
  for (const name of ['amount', 'count'] as const) {
    if (context.metric === 'AMOUNT' || !isGiven(input?.[name])) continue
    throw new Fault(`${field}.${name}`, 'The metric counts numbers, so a block is a number of them; give number.')
  }
  const blockSize = readMeterValue(context, field, input)
  if (blockSize === null) return { blockSize: ONE, blockOf: null }
  return { blockSize, blockOf: input?.amount ? 'MONEY' : 'UNITS' }
}

/** Throws Fault. */
export function readBand(context: ReadingContext, index: number, input: BandInput): Band {
  const field = `bands.${index}`
  const band: Band = {
    amount: readAmount(context, `${field}.amount`, input.amount),
    percentage: readNumber(`${field}.percentage`, input.percentage),
    fixedAmount: readAmount(context, `${field}.fixed_amount`, input.fixed_amount),
    minimumAmount: readAmount(context, `${field}.minimum_amount`, input.minimum_amount),
    maximumAmount: readAmount(context, `${field}.maximum_amount`, input.maximum_amount),
    minimumNumber: readNumber(`${field}.minimum_number`, input.minimum_number),
    maximumNumber: readNumber(`${field}.maximum_number`, input.maximum_number),
    ...readBlock(context, `${field}.block_size`, input.block_size),
    topBound: readTopBound(context, `${field}.tier_top_bound`, input.tier_top_bound),
    boundOf: boundOf(input.tier_top_bound),
  }
  if (band.blockSize.lte(ZERO)) throw new Fault(`${field}.block_size`, 'A block size must be greater than 0.')
  return band
}
