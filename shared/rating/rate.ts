// Where a price is computed: (configuration, volume) -> charges. Adding a model is one file and one line of MODELS.
import { sum } from '../decimal.ts'
import { type Amount, amount } from '../money.ts'
import { rateFixed } from './models/fixed.ts'
import { rateFlat } from './models/flat.ts'
import { rateNone } from './models/none.ts'
import { rateStairStep } from './models/stair-step.ts'
import { rateTiered } from './models/tiered.ts'
import { rateTopTiered } from './models/top-tiered.ts'
import type { Bands, Charge, PriceModel, Volume } from './price.ts'

const MODELS = {
  FLAT: rateFlat,
  FIXED: rateFixed,
  TIERED: rateTiered,
  TOP_TIERED: rateTopTiered,
  STAIR_STEP: rateStairStep,
  NONE: rateNone,
} as const satisfies Record<string, PriceModel>

export type SupportedPricingType = keyof typeof MODELS

export const isSupportedPricingType = (text: string): text is SupportedPricingType => Object.hasOwn(MODELS, text)

/** The pricing types `rate` accepts; the catalog refuses every other one when a price is saved. */
export const SUPPORTED_PRICING_TYPES: readonly SupportedPricingType[] =
  Object.keys(MODELS).filter(isSupportedPricingType)

/** A price ready to rate; made from wire text by `parsePriceConfig`. */
export type PriceConfig = {
  readonly pricingType: SupportedPricingType
  readonly currency: string
  readonly bands: Bands
}

export type RatedPrice = {
  readonly pricingType: SupportedPricingType
  readonly volume: Volume
  /** One a band that charged, lowest band first; empty for NONE and for TIERED without usage. */
  readonly charges: readonly Charge[]
  /** The sum of the charges, exact: rounding belongs to the invoice line. */
  readonly total: Amount
}

/**
 * Prices `volume` (what is left after included volume). Exact and total: no rounding, no clock.
 * Throws RangeError when metered money is not in the currency of the price, or when a percentage prices plain numbers.
 */
export function rate(config: PriceConfig, volume: Volume): RatedPrice {
  if (volume.metric === 'AMOUNT' && volume.currency !== config.currency) {
    throw new RangeError(`metered ${volume.currency} cannot be priced in ${config.currency} without a conversion`)
  }
  const charges = MODELS[config.pricingType]({ bands: config.bands, volume })
  const total = amount(sum(charges.map(charge => charge.quantity)), config.currency)
  return { pricingType: config.pricingType, volume, charges, total }
}
