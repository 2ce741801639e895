// The vocabulary of rating: what a price is, what was used, and a charge with every figure that led to it.
import { type Decimal, decimal, max, ONE, sum, ZERO } from '../decimal.ts'

/**
 * Billable usage. `quantity` is the metered number, or the metered money (already in the pricing currency) of an AMOUNT
 * metric; `count` is the number of contributing events. Tier bounds are compared with `quantity`.
 */
export type Volume =
  | { readonly metric: 'NUMBER'; readonly quantity: Decimal; readonly count: Decimal }
  | { readonly metric: 'AMOUNT'; readonly quantity: Decimal; readonly count: Decimal; readonly currency: string }

export const numberVolume = (quantity: Decimal, count: Decimal = ZERO): Volume => ({
  metric: 'NUMBER',
  quantity,
  count,
})
export const amountVolume = (quantity: Decimal, currency: string, count: Decimal): Volume => ({
  metric: 'AMOUNT',
  quantity,
  count,
  currency,
})

/** One price band. Every figure of money is in the currency of its configuration; `null` means not given. */
export type Band = {
  /** Price of one block of units (NUMBER metric) or of one block of events (AMOUNT metric). */
  readonly amount: Decimal | null
  /** Per cent of the metered money: "1.4" is 1.4 % (semantics 0.2). AMOUNT metric only. */
  readonly percentage: Decimal | null
  readonly fixedAmount: Decimal | null
  readonly minimumAmount: Decimal | null
  readonly maximumAmount: Decimal | null
  readonly minimumNumber: Decimal | null
  readonly maximumNumber: Decimal | null
  /** Units a price stands for; it only divides, part of a block costs its part. */
  readonly blockSize: Decimal
  /** Inclusive upper bound; null on the last band. */
  readonly topBound: Decimal | null
}

export type Bands = readonly [Band, ...Band[]]

export const EMPTY_BAND: Band = {
  amount: null,
  percentage: null,
  fixedAmount: null,
  minimumAmount: null,
  maximumAmount: null,
  minimumNumber: null,
  maximumNumber: null,
  blockSize: ONE,
  topBound: null,
}

/** Which limit of the band changed the charge. */
export type PriceBound = 'MINIMUM_NUMBER' | 'MAXIMUM_NUMBER' | 'MINIMUM_AMOUNT' | 'MAXIMUM_AMOUNT'

/** One term of a charge; the `quantity` of the pieces of a charge sum to the charge. */
export type Piece =
  | { readonly kind: 'FIXED'; readonly quantity: Decimal }
  | {
      readonly kind: 'UNITS'
      readonly quantity: Decimal
      readonly units: Decimal
      readonly price: Decimal
      readonly blockSize: Decimal
    }
  | { readonly kind: 'PERCENTAGE'; readonly quantity: Decimal; readonly base: Decimal; readonly percentage: Decimal }
  | {
      readonly kind: 'EVENTS'
      readonly quantity: Decimal
      readonly events: Decimal
      readonly price: Decimal
      readonly blockSize: Decimal
    }
  | { readonly kind: 'BOUND'; readonly quantity: Decimal; readonly bound: PriceBound; readonly limit: Decimal }

/** What one band charged, exact. */
export type Charge = {
  readonly bandIndex: number
  readonly band: Band
  /** Exclusive, but for the first band, which starts at 0. */
  readonly lowerBound: Decimal
  readonly topBound: Decimal | null
  /** The part of the volume this band priced (after a number bound). */
  readonly units: Decimal
  /** The events this band priced: all of them, or the band's share when TIERED splits an AMOUNT volume. */
  readonly events: Decimal
  readonly pieces: readonly Piece[]
  readonly priceBound: PriceBound | null
  /** Exact, in the currency of the configuration. */
  readonly quantity: Decimal
}

/** What a price model is given, and the one shape it has: a model is one file that exports one of these. */
export type ModelInput = { readonly bands: Bands; readonly volume: Volume }
export type PriceModel = (input: ModelInput) => readonly Charge[]

/** The volume a tiered model places: a negative total (corrections outweigh usage) is placed at zero. */
export const placedQuantity = (volume: Volume): Decimal => max(volume.quantity, ZERO)

export const lowerBoundOf = (bands: Bands, index: number): Decimal =>
  index === 0 ? ZERO : (bands[index - 1]?.topBound ?? ZERO)

/** The band a quantity lies in, bounds inclusive. The last band takes whatever lies beyond every bound. */
export function bandContaining(bands: Bands, quantity: Decimal): number {
  const index = bands.findIndex(band => band.topBound === null || quantity.lte(band.topBound))
  return index === -1 ? bands.length - 1 : index
}

const PER_CENT = decimal('0.01')
const perBlock = (price: Decimal, units: Decimal, blockSize: Decimal): Decimal =>
  blockSize.eq(ONE) ? price.times(units) : price.times(units).div(blockSize)

type BandUse = {
  readonly bands: Bands
  readonly index: number
  readonly metric: Volume['metric']
  readonly units: Decimal
  readonly events: Decimal
  /** A number bound that has already changed `units`. */
  readonly numberBound?: PriceBound | null
}

function unitPieces(band: Band, use: BandUse): Piece[] {
  const pieces: Piece[] = []
  const { amount, percentage, blockSize } = band
  if (use.metric === 'NUMBER') {
    // Silence would under-bill: a percentage has no meaning without metered money, so such a price must not be saved.
    if (percentage !== null) throw new RangeError('a percentage prices metered amounts only')
    if (amount !== null) {
      const quantity = perBlock(amount, use.units, blockSize)
      pieces.push({ kind: 'UNITS', quantity, units: use.units, price: amount, blockSize })
    }
    return pieces
  }
  if (percentage !== null) {
    const quantity = percentage.times(use.units).times(PER_CENT)
    pieces.push({ kind: 'PERCENTAGE', quantity, base: use.units, percentage })
  }
  if (amount !== null) {
    const quantity = perBlock(amount, use.events, blockSize)
    pieces.push({ kind: 'EVENTS', quantity, events: use.events, price: amount, blockSize })
  }
  return pieces
}

/** Adds the piece that lifts or caps `pieces` to the band's minimum or maximum amount (semantics 3.2). */
function boundAmount(band: Band, pieces: Piece[]): PriceBound | null {
  const { minimumAmount, maximumAmount } = band
  const charged = sum(pieces.map(piece => piece.quantity))
  if (minimumAmount !== null && charged.lt(minimumAmount)) {
    const quantity = minimumAmount.minus(charged)
    pieces.push({ kind: 'BOUND', quantity, bound: 'MINIMUM_AMOUNT', limit: minimumAmount })
    return 'MINIMUM_AMOUNT'
  }
  if (maximumAmount !== null && charged.gt(maximumAmount)) {
    const quantity = maximumAmount.minus(charged)
    pieces.push({ kind: 'BOUND', quantity, bound: 'MAXIMUM_AMOUNT', limit: maximumAmount })
    return 'MAXIMUM_AMOUNT'
  }
  return null
}

const settle = (use: BandUse, band: Band, pieces: Piece[]): Charge => {
  const amountBound = boundAmount(band, pieces)
  return {
    bandIndex: use.index,
    band,
    lowerBound: lowerBoundOf(use.bands, use.index),
    topBound: band.topBound,
    units: use.units,
    events: use.events,
    pieces,
    priceBound: amountBound ?? use.numberBound ?? null,
    quantity: sum(pieces.map(piece => piece.quantity)),
  }
}

/** The charge of one band for the units (and events) it takes: fixed part, unit part, percentage part, then its bounds. */
export function chargeBand(use: BandUse): Charge {
  const band = use.bands[use.index] ?? use.bands[0]
  const pieces: Piece[] = []
  if (band.fixedAmount !== null) pieces.push({ kind: 'FIXED', quantity: band.fixedAmount })
  pieces.push(...unitPieces(band, use))
  return settle(use, band, pieces)
}

/** The charge of one band that asks a lump sum, whatever its units: its fixed amount, or its amount read as one. */
export function chargeLump(use: BandUse): Charge {
  const band = use.bands[use.index] ?? use.bands[0]
  const lump = band.fixedAmount ?? band.amount
  return settle(use, band, lump === null ? [] : [{ kind: 'FIXED', quantity: lump }])
}

/** `quantity` held within the band's number bounds, and which of them acted. */
export function boundNumber(band: Band, quantity: Decimal): { units: Decimal; bound: PriceBound | null } {
  if (band.minimumNumber !== null && quantity.lt(band.minimumNumber)) {
    return { units: band.minimumNumber, bound: 'MINIMUM_NUMBER' }
  }
  if (band.maximumNumber !== null && quantity.gt(band.maximumNumber)) {
    return { units: band.maximumNumber, bound: 'MAXIMUM_NUMBER' }
  }
  return { units: quantity, bound: null }
}
