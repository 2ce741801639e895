// Whether a config is a price that can be billed. Pure; the figures are read by the very code that rates them.
import { defaultUnitsFault } from '../../../../../shared/billing/charging/units.ts'
import { decimal, isPlainDecimal, ZERO } from '../../../../../shared/decimal.ts'
import { AppError, type ErrorCode } from '../../../../../shared/errors.ts'
import { isInCredits, parseCreditsPrice } from '../../../../../shared/rating/credits.ts'
import { parsePriceConfig } from '../../../../../shared/rating/parse/parse-price-config.ts'
import { findPriceModel, isByUnits, isLumpSum } from '../../../../../shared/rating/rate.ts'
import type { PricePeriod, PricingItemConfig } from '../schema.ts'
import { isWholeMultiple } from '../variants/period-length.ts'
import type { VariantKey } from '../variants/variants.ts'
import { checkWalletGrants } from './check-wallet-grants.ts'

/** What is priced: an item that is measured (in numbers or in money), recurs, is sold once, or is charged by seats. */
export type Priced =
  | {
      readonly model: 'USAGE_BASED'
      readonly metric: 'NUMBER' | 'AMOUNT'
      readonly tieringMetric?: boolean
      /** False where the calculation is no sum of a period: MAX, UNIQUE, one with persist, and the like. */
      readonly sums?: boolean
      /** Whether the usage is turned into credits. */
      readonly converts?: boolean
    }
  | { readonly model: 'RECURRING' | 'ONE_OFF' | 'PER_SEAT' | 'CREDITS' }

const refuse = (code: ErrorCode, field: string, message: string): never => {
  throw new AppError(code, message, { field })
}

const ANY: VariantKey = { currency: null, billingPeriod: null }

/** Throws INVALID_FIELD or MISSING_FIELD with a path below `field`, where the config stands. A price of a currency is in that currency. */
export function checkPrice(config: PricingItemConfig, priced: Priced, field: string, variant: VariantKey = ANY): void {
  const model = findPriceModel(config.pricing_type)
  if (priced.model !== 'USAGE_BASED') {
    checkUnmetered(config, priced.model, { field, variant })
  } else {
    if (model?.basis === 'chosen') {
      const message = 'An amount that the customer chooses is for on-demand charges, not for usage.'
      refuse('INVALID_FIELD', `${field}.pricing_type`, message)
    }
    if (config.on_demand) refuse('INVALID_FIELD', `${field}.on_demand`, ONLY_ONE_OFF)
    if (config.billing_in_advance) {
      refuse('INVALID_FIELD', `${field}.billing_in_advance`, 'Usage is billed once it is known, never in advance.')
    }
    if (config.pricing_period && config.billing_period) {
      checkUsagePeriods(config.pricing_period, config.billing_period, `${field}.pricing_period`)
    }
  }
  checkTiering(config, priced, field)
  checkRounding(config, priced, `${field}.block_rounding`)
  checkSplit(config, priced, `${field}.split_pricing`)
  checkRatePer(config, priced, field)
  checkCounts(config, priced.model, field)
  checkWalletGrants(config, priced.model, field)
  if (isInCredits(config)) {
    checkCreditsPrice(config, priced, field)
    return
  }
  if (priced.model === 'USAGE_BASED' && priced.converts && model?.basis !== 'nothing') {
    const message = 'A USAGE_BASED_CONVERSION item turns usage into credits; give each band its credits.'
    refuse('MISSING_FIELD', `${field}.bands.0.credits`, message)
  }
  const reading = parsePriceConfig(config, {
    metric: priced.model === 'USAGE_BASED' ? priced.metric : 'NUMBER',
    ...(variant.currency === null ? {} : { currency: variant.currency }),
  })
  if (reading.kind === 'fault') refuse('INVALID_FIELD', `${field}.${reading.fault.field}`, reading.fault.message)
  const silent = config.bands.every(band => !band.amount && !band.fixed_amount && !band.percentage)
  if (silent && model?.needsPrice) {
    refuse('MISSING_FIELD', `${field}.bands.0.amount`, 'No band has a price; give an amount, or the pricing_type NONE.')
  }
}

const ONLY_ONE_OFF = 'Only an item that is sold once, ONE_OFF, can be charged on demand.'

/** A price in credits is of usage that is counted, never of money (contract: Wallet rules). */
function checkCreditsPrice(config: PricingItemConfig, priced: Priced, field: string): void {
  const index = config.bands.findIndex(band => band.credits)
  const refuseCredits = (message: string) => refuse('INVALID_FIELD', `${field}.bands.${index}.credits`, message)
  if (priced.model !== 'USAGE_BASED')
    refuseCredits(`Only usage is priced in credits; a ${priced.model} item costs money.`)
  if (priced.model === 'USAGE_BASED' && priced.metric !== 'NUMBER')
    refuseCredits('The item is metered in money, which is not priced in credits.')
  if (config.split_pricing) refuse('INVALID_FIELD', `${field}.split_pricing`, 'A price in credits cannot be split.')
  if (config.volume_group_reference) {
    const message = 'A price in credits finds its tier by its own usage; leave volume_group_reference out.'
    refuse('INVALID_FIELD', `${field}.volume_group_reference`, message)
  }
  const reading = parseCreditsPrice(config)
  if (reading.kind === 'fault') refuse('INVALID_FIELD', `${field}.${reading.fault.field}`, reading.fault.message)
}

/** What an item that is not metered can be priced by. */
function checkUnmetered(
  config: PricingItemConfig,
  model: Exclude<Priced['model'], 'USAGE_BASED'>,
  { field, variant }: { readonly field: string; readonly variant: VariantKey },
): void {
  const { pricing_type: type, on_demand: onDemand = false } = config
  if (onDemand && model !== 'ONE_OFF') refuse('INVALID_FIELD', `${field}.on_demand`, ONLY_ONE_OFF)
  const price = findPriceModel(type)
  const isLump = isLumpSum(type)
  const isChosen = price?.basis === 'chosen'
  if (isChosen && model === 'ONE_OFF' && !onDemand) {
    const message = 'The customer chooses the amount when it is charged; set on_demand to true.'
    refuse('INVALID_FIELD', `${field}.on_demand`, message)
  }
  const bySeat = price?.perPricingPeriod === true && !price.wholeBlocks && price.basis !== 'nothing'
  const fits = {
    RECURRING: isLump,
    ONE_OFF: isLump || isByUnits(type) || isChosen,
    PER_SEAT: bySeat && price.metrics.includes('NUMBER'),
    CREDITS: bySeat && price.metrics.includes('NUMBER'),
  }
  const wanted = {
    RECURRING: 'A RECURRING item is charged a lump sum: FIXED.',
    ONE_OFF:
      'A ONE_OFF item is charged a lump sum, FIXED, or by units, FLAT; on demand also an amount of choice, FLEXIBLE.',
    PER_SEAT: 'A PER_SEAT item is charged by its seats: FLAT, TIERED, TOP_TIERED or STAIR_STEP.',
    CREDITS: 'A CREDITS item is charged by the credits: FLAT, TIERED, TOP_TIERED or STAIR_STEP.',
  }
  if (!fits[model]) refuse('INVALID_FIELD', `${field}.pricing_type`, wanted[model])
  if (config.default_included_volume) {
    refuse('INVALID_FIELD', `${field}.default_included_volume`, 'Only usage that is metered can be included.')
  }
  const byEvents = config.bands.findIndex(band => (band.tier_top_bound?.count ?? null) !== null)
  if (byEvents !== -1) {
    const message = `A ${model} item has no events; bound its tiers by number.`
    refuse('INVALID_FIELD', `${field}.bands.${byEvents}.tier_top_bound.count`, message)
  }
  if (model === 'CREDITS') checkCreditsItem(config, { field, variant })
  if (model !== 'ONE_OFF') return
  for (const name of ['billing_period', 'pricing_period'] as const) {
    if (config[name]) refuse('INVALID_FIELD', `${field}.${name}`, `It is charged once, so it has no ${name}.`)
  }
}

/** A CREDITS item charges the credits that wallets lacked, which is known at the end of a period. */
function checkCreditsItem(
  { billing_in_advance, pricing_period, billing_period }: PricingItemConfig,
  { field, variant }: { readonly field: string; readonly variant: VariantKey },
): void {
  if (billing_in_advance) {
    const message = 'The credits that wallets lack are known at the end of a period; they are not billed in advance.'
    refuse('INVALID_FIELD', `${field}.billing_in_advance`, message)
  }
  const billing = billing_period ?? variant.billingPeriod
  if (pricing_period && billing) checkUsagePeriods(pricing_period, billing, `${field}.pricing_period`)
}

/** How many units or seats are charged when the schedule does not say. */
function checkCounts(config: PricingItemConfig, model: Priced['model'], field: string): void {
  const { default_units: units = null, default_seats_value: seats = null } = config
  if (units && model !== 'ONE_OFF') {
    refuse('INVALID_FIELD', `${field}.default_units`, 'Only an item that is sold once, ONE_OFF, has units.')
  }
  const fault = defaultUnitsFault(units, config.pricing_type)
  if (fault) refuse('INVALID_FIELD', `${field}.${fault.field}`, fault.message)
  if (!seats) return
  if (model !== 'PER_SEAT') refuse('INVALID_FIELD', `${field}.default_seats_value`, 'Only a PER_SEAT item has seats.')
  for (const name of ['amount', 'count'] as const) {
    if (seats[name]) refuse('INVALID_FIELD', `${field}.default_seats_value.${name}`, 'Seats are a number; use number.')
  }
  const { number } = seats
  if (!number || !isPlainDecimal(number) || decimal(number).lt(ZERO)) {
    refuse('INVALID_FIELD', `${field}.default_seats_value.number`, 'number must be a decimal, 0 or more.')
    return
  }
  // As the seats that a schedule states: of several bands each bounds its own part, so they do not bound the number.
  const [band, ...others] = config.bands
  const { minimum_number: least, maximum_number: most } = others.length === 0 ? (band ?? {}) : {}
  const outside =
    least && decimal(number).lt(decimal(least))
      ? `at least ${least}`
      : most && decimal(number).gt(decimal(most)) && `at most ${most}`
  if (outside) refuse('INVALID_FIELD', `${field}.default_seats_value.number`, `The price is of ${outside} seats.`)
}

/** What decides on the tier: the usage itself, other usage, or that of several prices together. */
function checkTiering(config: PricingItemConfig, priced: Priced, field: string): void {
  const { pricing_type: type, tiering_conditions: conditions, volume_group_reference: group } = config
  for (const [name, given] of Object.entries({ tiering_conditions: conditions, volume_group_reference: group })) {
    if (!given) continue
    const of = priced.model === 'USAGE_BASED' ? type : `A ${priced.model} item`
    if (priced.model === 'USAGE_BASED' && findPriceModel(type)?.placed) continue
    refuse('INVALID_FIELD', `${field}.${name}`, `${of} has no tiers that usage is placed on; leave ${name} out.`)
  }
  const isOther = conditions || (priced.model === 'USAGE_BASED' && priced.tieringMetric === true)
  if (group && isOther) {
    const message =
      'The tier of a group is found by what its prices use together; it cannot be found by other usage too.'
    refuse('INVALID_FIELD', `${field}.volume_group_reference`, message)
  }
}

/** Where other usage decides on the tier, a tier takes a part of the usage, which is no number of whole blocks. */
function checkRounding(
  { block_rounding: rounding, ...config }: PricingItemConfig,
  priced: Priced,
  field: string,
): void {
  if ((rounding ?? 'NONE') === 'NONE') return
  const { pricing_type: type, tiering_conditions, volume_group_reference: group } = config
  const isOther = tiering_conditions || (priced.model === 'USAGE_BASED' && priced.tieringMetric === true)
  if (!group && !(isOther && findPriceModel(type)?.slices)) return
  const message = 'Blocks are rounded where the tier is found by the usage itself; leave block_rounding out.'
  refuse('INVALID_FIELD', field, message)
}

/** A split price rates the usage of each value on its own, so it finds no tier by other usage (semantics 3.1). */
function checkSplit(config: PricingItemConfig, priced: Priced, field: string): void {
  const { pricing_type: type, tiering_conditions: conditions, volume_group_reference: group } = config
  if (!config.split_pricing) return
  const model = findPriceModel(type)
  if (priced.model !== 'USAGE_BASED' || !model?.perPricingPeriod || model.basis === 'nothing') {
    refuse(
      'INVALID_FIELD',
      field,
      `${type} of a ${priced.model} item does not depend on usage; leave split_pricing out.`,
    )
  }
  const isOther = conditions || (priced.model === 'USAGE_BASED' && priced.tieringMetric === true)
  if (group || isOther) {
    const other = group ? 'volume_group_reference' : conditions ? 'tiering_conditions' : 'a tiering calculation'
    refuse('INVALID_FIELD', field, `Each value finds its tier by its own usage; it cannot be combined with ${other}.`)
  }
}

/** A price of single events counts nothing together, so no tier is found by other usage and no value is apart. */
function checkRatePer(config: PricingItemConfig, priced: Priced, field: string): void {
  if (config.rate_per !== 'EVENT') return
  if (priced.model !== 'USAGE_BASED') {
    refuse('INVALID_FIELD', `${field}.rate_per`, `A ${priced.model} item has no events; leave rate_per out.`)
  }
  if (priced.model === 'USAGE_BASED' && priced.sums === false) {
    const message = 'Each event is priced on its own only where a calculation without persist sums their values.'
    refuse('INVALID_FIELD', `${field}.rate_per`, message)
  }
  if (isInCredits(config)) {
    refuse('INVALID_FIELD', `${field}.rate_per`, 'A price in credits is of all usage of a period; leave rate_per out.')
  }
  const { tiering_conditions, volume_group_reference, split_pricing } = config
  for (const [name, given] of Object.entries({ tiering_conditions, volume_group_reference, split_pricing })) {
    const message = `Each event is priced on its own, so ${name} has nothing to decide; leave one of them out.`
    if (given) refuse('INVALID_FIELD', `${field}.${name}`, message)
  }
  if (priced.model === 'USAGE_BASED' && priced.tieringMetric) {
    const message = 'The item finds its tier by another calculation, which single events do not have.'
    refuse('INVALID_FIELD', `${field}.rate_per`, message)
  }
}

/** Usage is rated once a pricing period, so a billing period must hold a whole number of them. */
function checkUsagePeriods(pricing: PricePeriod, billing: PricePeriod, field: string): void {
  if (isWholeMultiple(billing, pricing)) return
  refuse('INVALID_FIELD', field, 'The billing_period of a metered price must be a whole number of its pricing_period.')
}
