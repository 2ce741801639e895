// Whether a config is a price that can be billed. Pure; the figures are read by the very code that rates them.
import { AppError, type ErrorCode } from '../../../../shared/errors.ts'
import { currencyOfPrice, parsePriceConfig } from '../../../../shared/rating/parse-price-config.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import type { PricePeriod, PricingItem, PricingItemConfig } from './schema.ts'

/** What is priced: an item that is measured (in numbers or in money), or one that recurs. */
export type Priced =
  | { readonly model: 'USAGE_BASED'; readonly metric: 'NUMBER' | 'AMOUNT'; readonly tieringMetric?: boolean }
  | { readonly model: 'RECURRING' }

const refuse = (code: ErrorCode, field: string, message: string): never => {
  throw new AppError(code, message, { field })
}

/** Throws INVALID_FIELD or MISSING_FIELD with a path below `field`, where the config stands. */
export function checkPrice(config: PricingItemConfig, priced: Priced, field: string): void {
  const model = findPriceModel(config.pricing_type)
  if (priced.model === 'RECURRING') {
    if (model?.basis !== 'lump' || model.bands !== 'one') {
      refuse('INVALID_FIELD', `${field}.pricing_type`, 'A RECURRING item is charged a lump sum: FIXED.')
    }
  } else {
    if (model?.basis === 'chosen') {
      const message = 'An amount that the customer chooses is for on-demand charges, not for usage.'
      refuse('INVALID_FIELD', `${field}.pricing_type`, message)
    }
    if (config.billing_in_advance) {
      refuse('INVALID_FIELD', `${field}.billing_in_advance`, 'Usage is billed once it is known, never in advance.')
    }
    if (config.pricing_period && config.billing_period) {
      checkUsagePeriods(config.pricing_period, config.billing_period, `${field}.pricing_period`)
    }
  }
  checkTiering(config, priced, field)
  const reading = parsePriceConfig(config, { metric: priced.model === 'RECURRING' ? 'NUMBER' : priced.metric })
  if (reading.kind === 'fault') refuse('INVALID_FIELD', `${field}.${reading.fault.field}`, reading.fault.message)
  const silent = config.bands.every(band => !band.amount && !band.fixed_amount && !band.percentage)
  if (silent && model?.needsPrice) {
    refuse('MISSING_FIELD', `${field}.bands.0.amount`, 'No band has a price; give an amount, or the pricing_type NONE.')
  }
}

/** What decides on the tier: the usage itself, other usage, or that of several prices together. */
function checkTiering(config: PricingItemConfig, priced: Priced, field: string): void {
  const { pricing_type: type, tiering_conditions: conditions, volume_group_reference: group } = config
  for (const [name, given] of Object.entries({ tiering_conditions: conditions, volume_group_reference: group })) {
    if (!given || findPriceModel(type)?.placed) continue
    refuse('INVALID_FIELD', `${field}.${name}`, `${type} has no tiers that usage is placed on; leave ${name} out.`)
  }
  const isOther = conditions || (priced.model === 'USAGE_BASED' && priced.tieringMetric === true)
  if (group && isOther) {
    const message =
      'The tier of a group is found by what its prices use together; it cannot be found by other usage too.'
    refuse('INVALID_FIELD', `${field}.volume_group_reference`, message)
  }
}

/** Usage is rated once a pricing period, so a billing period must hold a whole number of them. */
function checkUsagePeriods(pricing: PricePeriod, billing: PricePeriod, field: string): void {
  const [inner, outer] = [lengthOf(pricing), lengthOf(billing)]
  if (inner.unit === outer.unit && outer.value % inner.value === 0) return
  refuse('INVALID_FIELD', field, 'The billing_period of a metered price must be a whole number of its pricing_period.')
}

export function lengthOf({ type, value }: PricePeriod): { unit: 'MONTH' | 'DAY'; value: number } {
  if (type === 'YEAR' || type === 'MONTH') return { unit: 'MONTH', value: type === 'YEAR' ? 12 * value : value }
  return { unit: 'DAY', value: type === 'WEEK' ? 7 * value : value }
}

/** The currencies that prices of `items` are in, each once, in the order they appear. */
export function currenciesOf(items: readonly PricingItem[]): string[] {
  const named = items.flatMap(item => item.configs.map(currencyOfPrice))
  return [...new Set(named.filter(currency => currency !== null))]
}
