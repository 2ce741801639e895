// The vocabulary of rating: what was used, what a price says, and a charge with every figure that led to it.
import { type Decimal, ONE, ZERO } from '../decimal.ts'

export type Metric = 'NUMBER' | 'AMOUNT'

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

/**
 * What one band says, as parsed: every figure of money in the currency of its price, `null` where nothing was given. A
 * model reads only the members it takes (see `definePriceModel`); all of them stand on the explanation of a charge.
 */
export type Band = {
  /** Price of one block of units (NUMBER metric) or of one block of events (AMOUNT metric). */
  readonly amount: Decimal | null
  /** Per cent of the metered money: "1.4" is 1.4 % (semantics 0.2). */
  readonly percentage: Decimal | null
  readonly fixedAmount: Decimal | null
  readonly minimumAmount: Decimal | null
  readonly maximumAmount: Decimal | null
  readonly minimumNumber: Decimal | null
  readonly maximumNumber: Decimal | null
  /** Units a price stands for. Only models that sell whole blocks round it up; elsewhere part of a block costs its part. */
  readonly blockSize: Decimal
  /** Inclusive upper bound; null on the last band. */
  readonly topBound: Decimal | null
}

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
  | { readonly kind: 'FEE'; readonly quantity: Decimal }
  | { readonly kind: 'FEES'; readonly quantity: Decimal; readonly fee: Decimal; readonly times: Decimal }
  | {
      readonly kind: 'UNITS'
      readonly quantity: Decimal
      readonly units: Decimal
      readonly price: Decimal
      readonly blockSize: Decimal
    }
  | {
      readonly kind: 'BLOCKS'
      readonly quantity: Decimal
      readonly blocks: Decimal
      readonly price: Decimal
      readonly blockSize: Decimal
    }
  /** Metered money passed on as it is. */
  | { readonly kind: 'PASSED'; readonly quantity: Decimal }
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
export type BandCharge = {
  readonly bandIndex: number
  readonly band: Band
  /** Exclusive, but for the first band, which starts at 0. */
  readonly lowerBound: Decimal
  readonly topBound: Decimal | null
  /** The part of the volume this band priced (after a number bound). */
  readonly units: Decimal
  /** The events this band priced: all of them, or the band's share when tiers split an AMOUNT volume; tiers price numbers by none. */
  readonly events: Decimal
  readonly pieces: readonly Piece[]
  readonly priceBound: PriceBound | null
  /** Exact, in the currency of the price. */
  readonly quantity: Decimal
}
