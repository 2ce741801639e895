// The types of rating: what was used, what a price contains, and a charge with every figure that led to it.
import { type Decimal, ONE, ZERO } from '../decimal.ts'

export type Metric = 'NUMBER' | 'AMOUNT'

/**
 * Billable usage. For an AMOUNT metric, `quantity` is the metered money (already in the pricing currency); otherwise it
 * is the metered number. `count` is the number of contributing events. Tier bounds are compared with `quantity`, or with
 * `count` where they are numbers of events.
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
 * The members of one band, as parsed: every amount is in the currency of its price, and `null` where none was given. A
 * model reads only the members it declares (see `definePriceModel`); the explanation of a charge shows all of them.
 */
export type Band = {
  /** Price of one block of units (NUMBER metric) or of one block of events (AMOUNT metric). */
  readonly amount: Decimal | null
  /** Percentage of the metered money: "1.4" is 1.4 % (semantics 0.2). */
  readonly percentage: Decimal | null
  readonly fixedAmount: Decimal | null
  readonly minimumAmount: Decimal | null
  readonly maximumAmount: Decimal | null
  readonly minimumNumber: Decimal | null
  readonly maximumNumber: Decimal | null
  /**
   * Units that one price covers. Only models that sell whole blocks round up; elsewhere part of a block costs its
   * share.
   */
  readonly blockSize: Decimal
  /** What a block is a number of: units (of metered money: events), or metered money; null where no size is given, which is 1. */
  readonly blockOf: 'UNITS' | 'MONEY' | null
  /** Inclusive upper bound; null on the last band. */
  readonly topBound: Decimal | null
  /** What the bounds of the price are compared with; the same on all its bands. */
  readonly boundOf: BoundOf
}

/** The metered quantity, or the number of events. */
export type BoundOf = 'QUANTITY' | 'COUNT'

export const EMPTY_BAND: Band = {
  amount: null,
  percentage: null,
  fixedAmount: null,
  minimumAmount: null,
  maximumAmount: null,
  minimumNumber: null,
  maximumNumber: null,
  blockSize: ONE,
  blockOf: null,
  topBound: null,
  boundOf: 'QUANTITY',
}

/** Which limit of the band changed the charge. */
export type PriceBound = 'MINIMUM_NUMBER' | 'MAXIMUM_NUMBER' | 'MINIMUM_AMOUNT' | 'MAXIMUM_AMOUNT'

/** One term of a charge; the `quantity` values of all terms sum to the charge. */
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
  /** Metered money that is passed on unchanged. */
  | { readonly kind: 'PASSED'; readonly quantity: Decimal }
  | { readonly kind: 'PERCENTAGE'; readonly quantity: Decimal; readonly base: Decimal; readonly percentage: Decimal }
  | {
      readonly kind: 'EVENTS'
      readonly quantity: Decimal
      readonly events: Decimal
      readonly price: Decimal
      readonly blockSize: Decimal
    }
  | {
      readonly kind: 'BOUND'
      readonly quantity: Decimal
      readonly bound: PriceBound
      readonly limit: Decimal
      /** How many events it applied to, where each event is priced on its own. */
      readonly times?: Decimal
    }

/** What one band charged, exact. */
export type BandCharge = {
  readonly bandIndex: number
  readonly band: Band
  /** Exclusive, except for the first band, which starts at 0 inclusive. */
  readonly lowerBound: Decimal
  readonly topBound: Decimal | null
  /** The part of the volume that this band priced (after the number bounds). */
  readonly units: Decimal
  /**
   * The events that this band priced: all of them, or the band's share when tiers split an AMOUNT volume; zero when
   * tiers price numbers.
   */
  readonly events: Decimal
  readonly pieces: readonly Piece[]
  readonly priceBound: PriceBound | null
  /** Exact, in the currency of the price. */
  readonly quantity: Decimal
}
