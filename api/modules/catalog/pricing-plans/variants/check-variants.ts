// Whether the variants of an item contradict each other (semantics 3.1). Pure.
import { AppError, type ErrorCode } from '../../../../../shared/errors.ts'
import type { PricingItem, PricingItemConfig } from '../schema.ts'
import { isSameLength, periodText } from './period-length.ts'
import { type CurrencyVariant, type PeriodVariant, variantsOf } from './variants.ts'

const refuse = (field: string, message: string, code: ErrorCode = 'INVALID_FIELD'): never => {
  throw new AppError(code, message, { field })
}

const LISTS = ['configs', 'pricing_currency_configs', 'billing_period_configs'] as const

/**
 * Throws INVALID_FIELD unless an item has one list of configs or of variants, each currency and billing period once with prices or a
 * fallback that has them, and at most one default in each list of configs, whose turns differ. `field` is where the item stands.
 */
export function checkVariants(item: PricingItem, field: string): void {
  const [, second] = LISTS.filter(name => (item[name] ?? []).length > 0)
  if (second) refuse(`${field}.${second}`, `An item has one of ${LISTS.join(', ')}; leave the others out.`)
  checkCurrencies(item.pricing_currency_configs ?? [], `${field}.pricing_currency_configs`)
  checkPeriods(item.billing_period_configs ?? [], `${field}.billing_period_configs`)
  for (const { configs, path } of variantsOf(item)) checkConfigs(configs, `${field}.${path}`)
}

function checkCurrencies(entries: readonly CurrencyVariant<PricingItemConfig>[], field: string): void {
  for (const [index, entry] of entries.entries()) {
    const at = `${field}.${index}`
    const { currency, fallback_currency: fallback, configs, billing_period_configs: periods } = entry
    if (entries.findIndex(other => other.currency === currency) < index)
      refuse(`${at}.currency`, `The item has prices in ${currency} already.`)
    if (configs && periods)
      refuse(`${at}.billing_period_configs`, 'A currency has configs or billing_period_configs; leave one out.')
    checkPeriods(periods ?? [], `${at}.billing_period_configs`)
    if (!configs && !periods && !fallback)
      refuse(
        `${at}.configs`,
        `Give prices in ${currency}, or the fallback_currency whose prices apply.`,
        'MISSING_FIELD',
      )
    if (!fallback) continue
    if (configs)
      refuse(
        `${at}.fallback_currency`,
        `The configs in ${currency} apply to every billing period; leave the fallback out.`,
      )
    const other = entries.find(each => each.currency === fallback)
    if (fallback === currency || !(other?.configs ?? other?.billing_period_configs))
      refuse(
        `${at}.fallback_currency`,
        `The item has no prices in ${fallback} to fall back to; name a currency of another entry.`,
      )
  }
}

function checkPeriods(entries: readonly PeriodVariant<PricingItemConfig>[], field: string): void {
  for (const [index, { billing_period: period }] of entries.entries()) {
    if (entries.findIndex(other => isSameLength(other.billing_period, period)) === index) continue
    const message = `The item has prices for a billing period of ${periodText(period)} already.`
    refuse(`${field}.${index}.billing_period`, message)
  }
}

/** Of several configs exactly one prices an event, so all but one of them have conditions, and their turns differ. */
function checkConfigs(configs: readonly PricingItemConfig[], field: string): void {
  if (configs.length === 0) refuse(field, 'A pricing item needs a config.')
  const [, second] = configs.filter(config => !config.conditions)
  if (second) {
    const message = 'One config of an item can be the default; give the others conditions.'
    refuse(`${field}.${configs.indexOf(second)}.conditions`, message)
  }
  const orders = configs.map(config => config.order)
  const same = orders.findIndex((order, index) => orders.indexOf(order) < index)
  if (same !== -1) {
    const message = `Another config of the item has the order ${orders[same]} already; the first whose conditions hold is taken.`
    refuse(`${field}.${same}.order`, message)
  }
}
