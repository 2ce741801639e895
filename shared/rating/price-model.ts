// A price model is one value in one file. It says how many bands it has, which members it reads, and how it rates.
// Parsing, checking, describing and billing use this value, so nothing outside a model's file knows its name.
import { type Decimal, max, sum, ZERO } from '../decimal.ts'
import type { BlockRounding } from './block-rounding.ts'
import type { Band, BandCharge, Metric, Volume } from './price.ts'

/** A member of a band, or of the price itself, that a model can read. */
export type BandField = Exclude<keyof Band, 'topBound' | 'boundOf'>
export type Settings = {
  /** Whether the unused rest of the last block bought reduces what the next pricing period buys. */
  readonly rollover: boolean
  /** Whether a step charges the fees of all steps reached, or only its own. */
  readonly stepAccumulation: StepAccumulation
  /** What becomes of a part of a block, where `amount` is the price of one. */
  readonly blockRounding: BlockRounding
}
export const STEP_ACCUMULATIONS = ['NONE', 'STEPS_REACHED'] as const
export type StepAccumulation = (typeof STEP_ACCUMULATIONS)[number]
export type SettingName = keyof Settings
export const DEFAULT_SETTINGS: Settings = { rollover: false, stepAccumulation: 'NONE', blockRounding: 'NONE' }

/** What earlier pricing periods left for this one. */
export type Prior = {
  /** Units bought before and not yet used, for a price whose `top_up.rollover` is true. */
  readonly rollover: Decimal
}
export const NO_PRIOR: Prior = { rollover: ZERO }

/** A band as a model reads it, with its position among the bands. */
export type Placed<B> = {
  readonly reads: B
  readonly said: Band
  readonly index: number
  /** Exclusive, except for the first band, which starts at 0 inclusive. */
  readonly floor: Decimal
  readonly top: Decimal | null
}
export type Placeds<B> = readonly [Placed<B>, ...Placed<B>[]]

export type ModelInput<B> = {
  readonly bands: Placeds<B>
  readonly volume: Volume
  /** The quantity that decides the tier: the volume itself, or the quantity of another metric. */
  readonly position: Decimal
  readonly prior: Prior
  readonly settings: Settings
}
export type ModelResult = {
  readonly charges: readonly BandCharge[]
  /** The sum of the charges, exact. */
  readonly total: Decimal
  /** Units bought and not used, for the next pricing period. */
  readonly rollover: Decimal
}
/** Rates one price: everything is bound except the usage. */
export type Rating = (input: Pick<ModelInput<never>, 'volume' | 'position' | 'prior'>) => ModelResult

/** Why a model cannot price a band; `field` is the member of the band. */
export class BandFault extends Error {
  readonly field: keyof Band

  constructor(field: keyof Band, message: string) {
    super(message)
    this.field = field
  }
}

type Facts = {
  /** One band, several bands that rise from 0 without a gap, or none. */
  readonly bands: 'one' | 'tiers' | 'none'
  /** What is charged: units of usage, a lump sum, an amount that the customer chooses, or nothing. */
  readonly basis: 'units' | 'lump' | 'chosen' | 'nothing'
  /**
   * Whether usage is rated once per pricing period. If not, the same amount is owed every billing period whatever the
   * usage, scaled down from the pricing period.
   */
  readonly perPricingPeriod: boolean
  /** Whether at least one band must have a price: a price that charges nothing is most likely a mistake. */
  readonly needsPrice: boolean
  /** The metrics it prices; both by default. */
  readonly metrics: readonly Metric[]
  /** The members of a band that it reads; any other member is refused by name. */
  readonly takes: readonly BandField[]
  /** Whether the band may be left out; nothing is then read from it. */
  readonly bandIsOptional: boolean
  /** The members it reads from the price itself, besides the bands. */
  readonly settings: readonly SettingName[]
  /**
   * Whether a position selects its tiers. The position can come from another metric or from several prices together.
   */
  readonly placed: boolean
  /** Whether each tier prices its own part of the usage. */
  readonly slices: boolean
  /** Whether an item that is charged once can be sold by a number of units at it. */
  readonly byUnits: boolean
  /** Whether it sells whole blocks, so that the charge steps at the end of each block. */
  readonly wholeBlocks: boolean
}

export type PriceModel = Facts & {
  /** Throws BandFault, with the index of the band as a prefix, through `at`. */
  readonly prepare: (
    bands: readonly Band[],
    metric: Metric,
    settings: Settings,
    at: (index: number, fault: BandFault) => Error,
  ) => Rating
}

type Definition<T extends BandField, B> = Pick<Facts, 'bands' | 'basis' | 'perPricingPeriod'> &
  Partial<
    Pick<
      Facts,
      'needsPrice' | 'metrics' | 'settings' | 'bandIsOptional' | 'placed' | 'slices' | 'byUnits' | 'wholeBlocks'
    >
  > & {
    readonly takes: readonly T[]
    /** What the model reads from one band. Throws BandFault when the band contradicts itself. */
    readonly read: (band: Pick<Band, T>, metric: Metric, settings: Settings) => B
    /** The first band that does not fit the others, and why. */
    readonly misfit?: (bands: Placeds<B>) => { readonly index: number; readonly fault: BandFault } | null
    readonly rate: (input: ModelInput<B>) => ModelResult
  }

/** Makes a price model from its definition. `rate` sees only what `read` returns. */
export function definePriceModel<T extends BandField, B>(of: Definition<T, B>): PriceModel {
  return {
    needsPrice: of.basis === 'units' || of.basis === 'lump',
    metrics: ['NUMBER', 'AMOUNT'],
    settings: [],
    bandIsOptional: false,
    placed: false,
    slices: false,
    byUnits: false,
    wholeBlocks: false,
    ...of,
    prepare: (bands, metric, settings, at) => {
      const placed = bands.map((said, index): Placed<B> => {
        const floor = index === 0 ? ZERO : (bands[index - 1]?.topBound ?? ZERO)
        try {
          return { reads: of.read(said, metric, settings), said, index, floor, top: said.topBound }
        } catch (error) {
          throw error instanceof BandFault ? at(index, error) : error
        }
      })
      const [first, ...rest] = placed
      if (!first) return () => charged([])
      const known: Placeds<B> = [first, ...rest]
      const misfit = of.misfit?.(known)
      if (misfit) throw at(misfit.index, misfit.fault)
      // Written out on purpose: an object spread here took a quarter of the time of a rating.
      return ({ volume, position, prior }) => of.rate({ bands: known, settings, volume, position, prior })
    },
  }
}

export const charged = (charges: readonly BandCharge[], rollover: Decimal = ZERO): ModelResult => ({
  charges,
  total: sum(charges.map(charge => charge.quantity)),
  rollover,
})

/**
 * The quantity that a model with bands rates: a negative total (corrections exceed usage) counts as zero (semantics
 * 3.2).
 */
export const placedQuantity = (quantity: Decimal): Decimal => max(quantity, ZERO)

/** The band of a quantity; bounds are inclusive. The last band takes every quantity beyond its bound. */
export function bandContaining<B>(bands: Placeds<B>, quantity: Decimal): Placed<B> {
  return bands.find(({ top }) => top === null || quantity.lte(top)) ?? bands[bands.length - 1] ?? bands[0]
}
