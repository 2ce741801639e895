// Rates a volume with a price: (price, volume) -> charges. A new model is one file and one line in MODELS: nothing else names it.
import type { Decimal } from '../decimal.ts'
import { type Amount, amount } from '../money.ts'
import type { BlockRounding } from './block-rounding.ts'
import type { IncludedTerms } from './included/included-windows.ts'
import { fixed } from './models/fixed.ts'
import { flat } from './models/flat.ts'
import { flatTopUp } from './models/flat-top-up.ts'
import { flexible } from './models/flexible.ts'
import { none } from './models/none.ts'
import { passThrough } from './models/pass-through.ts'
import { stairStep } from './models/stair-step.ts'
import { stairStepTopUp } from './models/stair-step-top-up.ts'
import { tiered } from './models/tiered.ts'
import { tieredTopUp } from './models/tiered-top-up.ts'
import { topTiered } from './models/top-tiered.ts'
import type { Band, BandCharge, BoundOf, Volume } from './price.ts'
import { NO_PRIOR, type PriceModel, type Prior, type Rating } from './price-model.ts'

const MODELS = {
  FLAT: flat,
  FIXED: fixed,
  TIERED: tiered,
  TOP_TIERED: topTiered,
  STAIR_STEP: stairStep,
  FLAT_TOP_UP: flatTopUp,
  TIERED_TOP_UP: tieredTopUp,
  STAIR_STEP_TOP_UP: stairStepTopUp,
  PASS_THROUGH: passThrough,
  FLEXIBLE: flexible,
  NONE: none,
} as const satisfies Record<string, PriceModel>

export type SupportedPricingType = keyof typeof MODELS

export const isSupportedPricingType = (text: string): text is SupportedPricingType => Object.hasOwn(MODELS, text)

/** The pricing types that `rate` accepts; the catalog refuses any other when a price is saved. */
export const SUPPORTED_PRICING_TYPES: readonly SupportedPricingType[] =
  Object.keys(MODELS).filter(isSupportedPricingType)

/** The model of a pricing type; undefined for a type that is not priced. */
export const findPriceModel = (pricingType: string): PriceModel | undefined =>
  isSupportedPricingType(pricingType) ? MODELS[pricingType] : undefined

/** Whether the price is one lump sum, whatever the volume. */
export function isLumpSum(pricingType: string): boolean {
  const model = findPriceModel(pricingType)
  return model?.basis === 'lump' && model.bands === 'one'
}

/** Whether an item that is charged once can be sold by a number of units at the price. */
export const isByUnits = (pricingType: string): boolean => findPriceModel(pricingType)?.byUnits === true

/** A price ready to be rated; `parsePriceConfig` makes it from the wire shape. */
export type PriceConfig = {
  readonly pricingType: SupportedPricingType
  readonly currency: string
  readonly bands: readonly Band[]
  /** What places usage on the bands, where no other usage does. */
  readonly placedBy: BoundOf
  readonly rating: Rating
  /** What becomes of a part of a block, where it is not the model that says it. */
  readonly blockRounding: BlockRounding
  /** Free usage, which the caller deducts before rating (`applyIncludedOverTime`); null for none. */
  readonly included: IncludedTerms | null
  /** Whether each event is priced on its own (`rateEvents`). */
  readonly perEvent: boolean
}

/** What rating may need besides the volume. */
export type RateOptions = {
  /** The quantity that decides the tier, when it comes from another metric or from only some of the events. */
  readonly position?: Decimal
  /** What earlier pricing periods left. */
  readonly prior?: Prior
}

export type RatedPrice = {
  readonly pricingType: SupportedPricingType
  readonly volume: Volume
  /** One entry per band that charged, lowest band first; empty for a price that charges nothing. */
  readonly charges: readonly BandCharge[]
  /** The sum of the charges, exact; the invoice line rounds. */
  readonly total: Amount
  /** Units bought and not used, for the next pricing period; zero unless the price keeps them. */
  readonly rollover: Decimal
}

/**
 * Prices `volume` (after included volume is deducted). Exact, without rounding or a clock. Throws RangeError when
 * metered money is not in the currency of the price: conversion is never implicit.
 */
export function rate(config: PriceConfig, volume: Volume, options: RateOptions = {}): RatedPrice {
  if (volume.metric === 'AMOUNT' && volume.currency !== config.currency) {
    throw new RangeError(`metered ${volume.currency} cannot be priced in ${config.currency} without a conversion`)
  }
  const own = config.placedBy === 'COUNT' ? volume.count : volume.quantity
  const { position = own, prior = NO_PRIOR } = options
  const { charges, total, rollover } = config.rating({ volume, position, prior })
  return { pricingType: config.pricingType, volume, charges, total: amount(total, config.currency), rollover }
}
