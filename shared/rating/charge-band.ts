// How one band charges: the parts that price models share. Exact; nothing is rounded.
import { type Decimal, decimal, ONE, sum } from '../decimal.ts'
import { type BlockRounding, roundedBlocks } from './block-rounding.ts'
import type { Band, BandCharge, Metric, Piece, PriceBound } from './price.ts'
import { BandFault, type Placed, type Settings } from './price-model.ts'

/** The price of usage. The kind follows from the metric, so a percentage of plain numbers cannot be expressed. */
export type UnitPrice =
  | {
      readonly of: 'UNITS'
      readonly amount: Decimal | null
      readonly blockSize: Decimal
      readonly rounding: BlockRounding
    }
  | {
      readonly of: 'MONEY'
      readonly rounding: BlockRounding
      readonly percentage: Decimal | null
      /** The price of a block of events, or of a block of the money. */
      readonly amount: Decimal | null
      readonly per: 'EVENTS' | 'MONEY'
      readonly blockSize: Decimal
    }

type Limits = Pick<Band, 'minimumAmount' | 'maximumAmount' | 'minimumNumber' | 'maximumNumber'>
/** A band that prices usage by its units. */
export type UnitBand = { readonly price: UnitPrice; readonly fixedAmount: Decimal | null; readonly limits: Limits }
/** A band that charges a lump sum. */
export type FeeBand = { readonly fee: Decimal; readonly limits: Limits }

export const AMOUNT_LIMITS = ['minimumAmount', 'maximumAmount'] as const
export const UNIT_FIELDS = [
  'amount',
  'percentage',
  'fixedAmount',
  'blockSize',
  'blockOf',
  'minimumNumber',
  'maximumNumber',
  ...AMOUNT_LIMITS,
] as const
export const FEE_FIELDS = ['amount', 'fixedAmount', ...AMOUNT_LIMITS] as const

/** The limits of a band. Throws BandFault when a maximum is below its minimum. */
export function readLimits(band: Partial<Limits>): Limits {
  const { minimumAmount = null, maximumAmount = null, minimumNumber = null, maximumNumber = null } = band
  if (minimumNumber && maximumNumber?.lt(minimumNumber)) {
    throw new BandFault('maximumNumber', 'maximum_number must not be below minimum_number.')
  }
  if (minimumAmount && maximumAmount?.lt(minimumAmount)) {
    throw new BandFault('maximumAmount', 'maximum_amount must not be below minimum_amount.')
  }
  return { minimumAmount, maximumAmount, minimumNumber, maximumNumber }
}

/** Throws BandFault for a percentage of plain numbers, and when limits contradict each other. */
export function readUnitBand(
  band: Pick<Band, (typeof UNIT_FIELDS)[number]>,
  metric: Metric,
  { blockRounding: rounding }: Pick<Settings, 'blockRounding'>,
): UnitBand {
  const { amount, percentage, blockSize, blockOf, fixedAmount } = band
  if (metric === 'NUMBER' && percentage !== null) {
    throw new BandFault('percentage', 'A percentage prices metered money; this metric counts numbers.')
  }
  const price: UnitPrice =
    metric === 'NUMBER'
      ? { of: 'UNITS', amount, blockSize, rounding }
      : { of: 'MONEY', percentage, amount, per: blockOf === 'MONEY' ? 'MONEY' : 'EVENTS', blockSize, rounding }
  return { price, fixedAmount, limits: readLimits(band) }
}

/** The lump sum: `fixed_amount`, or `amount` in its place. Throws BandFault when both or neither are given. */
export function readFeeBand(band: Pick<Band, (typeof FEE_FIELDS)[number]>): FeeBand {
  const { amount, fixedAmount } = band
  if (amount !== null && fixedAmount !== null) {
    throw new BandFault('amount', 'This pricing type charges one lump sum: give fixed_amount or amount, not both.')
  }
  const fee = fixedAmount ?? amount
  if (fee === null) throw new BandFault('fixedAmount', 'This pricing type needs a fixed_amount.')
  return { fee, limits: readLimits(band) }
}

const PER_CENT = decimal('0.01')
const perBlock = (price: Decimal, units: Decimal, blockSize: Decimal): Decimal =>
  blockSize === ONE || blockSize.eq(ONE) ? price.times(units) : price.times(units).div(blockSize)

export const percentOf = (percentage: Decimal, base: Decimal): Decimal => percentage.times(base).times(PER_CENT)

type Use = { readonly units: Decimal; readonly events: Decimal }

/** The price of units, or of the blocks that they are rounded to. */
const unitPiece = (
  price: Pick<UnitPrice, 'blockSize' | 'rounding'>,
  amount: Decimal,
  of: 'UNITS' | 'EVENTS',
  used: Decimal,
): Piece => {
  const { blockSize, rounding } = price
  if (rounding !== 'NONE') {
    const blocks = roundedBlocks(used, blockSize, rounding)
    return { kind: 'BLOCKS', quantity: amount.times(blocks), blocks, price: amount, blockSize }
  }
  const quantity = perBlock(amount, used, blockSize)
  return of === 'UNITS'
    ? { kind: 'UNITS', quantity, units: used, price: amount, blockSize }
    : { kind: 'EVENTS', quantity, events: used, price: amount, blockSize }
}

function unitPieces(price: UnitPrice, { units, events }: Use): Piece[] {
  const { amount } = price
  if (price.of === 'UNITS') return amount === null ? [] : [unitPiece(price, amount, 'UNITS', units)]
  const { percentage, per } = price
  const pieces: Piece[] = []
  if (percentage !== null) {
    pieces.push({ kind: 'PERCENTAGE', quantity: percentOf(percentage, units), base: units, percentage })
  }
  if (amount !== null) {
    pieces.push(per === 'MONEY' ? unitPiece(price, amount, 'UNITS', units) : unitPiece(price, amount, 'EVENTS', events))
  }
  return pieces
}

type Bounded = { readonly piece: Piece & { readonly kind: 'BOUND' }; readonly bound: PriceBound }

/** The piece that raises a charge to the band's minimum amount or caps it at the maximum amount (semantics 3.2). */
function boundAmount({ minimumAmount, maximumAmount }: Limits, charge: Decimal): Bounded | null {
  const to = (limit: Decimal, bound: PriceBound): Bounded => ({
    piece: { kind: 'BOUND', quantity: limit.minus(charge), bound, limit },
    bound,
  })
  if (minimumAmount !== null && charge.lt(minimumAmount)) return to(minimumAmount, 'MINIMUM_AMOUNT')
  if (maximumAmount !== null && charge.gt(maximumAmount)) return to(maximumAmount, 'MAXIMUM_AMOUNT')
  return null
}

/** `quantity` held within the band's number bounds, and which of them applied. */
function boundNumber({ minimumNumber, maximumNumber }: Limits, quantity: Decimal) {
  if (minimumNumber !== null && quantity.lt(minimumNumber)) {
    return { units: minimumNumber, bound: 'MINIMUM_NUMBER' } as const
  }
  if (maximumNumber !== null && quantity.gt(maximumNumber)) {
    return { units: maximumNumber, bound: 'MAXIMUM_NUMBER' } as const
  }
  return { units: quantity, bound: null }
}

/** The charge of a band that consists of these pieces, held within the band's minimum and maximum amount. */
export function chargeOf(
  placed: Placed<{ readonly limits: Limits }>,
  use: Use,
  pieces: readonly Piece[],
  numberBound: PriceBound | null = null,
): BandCharge {
  const exact = sum(pieces.map(piece => piece.quantity))
  const bounded = boundAmount(placed.reads.limits, exact)
  return {
    bandIndex: placed.index,
    band: placed.said,
    lowerBound: placed.floor,
    topBound: placed.top,
    units: use.units,
    events: use.events,
    pieces: bounded ? [...pieces, bounded.piece] : pieces,
    priceBound: bounded?.bound ?? numberBound,
    quantity: bounded ? exact.plus(bounded.piece.quantity) : exact,
  }
}

const feePieces = (fee: Decimal | null): Piece[] => (fee === null ? [] : [{ kind: 'FEE', quantity: fee }])

/** The charge of one band for its part of the usage: fixed part, unit part, percentage part, then its limits. */
export function chargeUnits(placed: Placed<UnitBand>, use: Use): BandCharge {
  const { price, fixedAmount, limits } = placed.reads
  const { units, bound } = boundNumber(limits, use.units)
  const held = { units, events: use.events }
  return chargeOf(placed, held, [...feePieces(fixedAmount), ...unitPieces(price, held)], bound)
}

/** The charge of one band that charges a lump sum, whatever its usage. */
export const chargeFee = (placed: Placed<FeeBand>, use: Use): BandCharge =>
  chargeOf(placed, use, feePieces(placed.reads.fee))

/** The charge of whole blocks. */
export const chargeBlocks = (
  placed: Placed<{ readonly limits: Limits; readonly amount: Decimal; readonly blockSize: Decimal }>,
  use: Use,
  blocks: Decimal,
): BandCharge => {
  const { amount, blockSize } = placed.reads
  return chargeOf(placed, use, [{ kind: 'BLOCKS', quantity: amount.times(blocks), blocks, price: amount, blockSize }])
}
