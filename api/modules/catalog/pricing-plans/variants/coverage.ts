// Whether a version has a price for each currency and billing period that it is sold in, so that no schedule ever lacks one
// (semantics 3.1). Pure.
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { currencyOfPrice } from '../../../../../shared/rating/parse/parse-price-config.ts'
import type { PricingItem } from '../schema.ts'
import { isSameLength, periodText } from './period-length.ts'
import { type Terms, variantFor, variantsOf } from './variants.ts'

/** The currencies that items are sold in, each once, in the order they appear; those with a fallback are among them. */
export function soldCurrencies(items: readonly PricingItem[]): string[] {
  const named = items.flatMap(item =>
    item.pricing_currency_configs
      ? item.pricing_currency_configs.map(({ currency }) => currency)
      : variantsOf(item).flatMap(({ configs }) => configs.map(currencyOfPrice)),
  )
  return [...new Set(named.filter(currency => currency !== null))]
}

/** The billing periods that items have prices of their own for, each once, in the order they appear. */
export function soldPeriods(items: readonly PricingItem[]): PeriodLength[] {
  const named = items.flatMap(item => variantsOf(item).flatMap(({ billingPeriod }) => billingPeriod ?? []))
  return named.filter((period, index) => named.findIndex(other => isSameLength(other, period)) === index)
}

/** What keeps an item from being priced for a schedule. */
export type MissingPrice =
  | { readonly kind: 'CURRENCY'; readonly sold: readonly string[] }
  | { readonly kind: 'BILLING_PERIOD'; readonly sold: readonly PeriodLength[] }
  /** It falls back to prices in another currency, and those are converted. */
  | { readonly kind: 'FALLBACK'; readonly to: string }

/** Null where the item has a price for the schedule. Prices that name no currency, as those in credits, are of any. */
export function missingPriceOf(item: PricingItem, terms: Terms): MissingPrice | null {
  const currencies = item.pricing_currency_configs
  if (currencies && !currencies.some(({ currency }) => currency === terms.currency))
    return { kind: 'CURRENCY', sold: currencies.map(({ currency }) => currency) }
  const variant = variantFor(item, terms)
  if (!variant) return { kind: 'BILLING_PERIOD', sold: periodsIn(item, terms.currency) }
  const [foreign] = variant.configs.map(currencyOfPrice).filter(each => each !== null && each !== terms.currency)
  if (!foreign) return null
  return variant.currency === null ? { kind: 'CURRENCY', sold: [foreign] } : { kind: 'FALLBACK', to: foreign }
}

const periodsIn = (item: PricingItem, currency: string): PeriodLength[] =>
  variantsOf(item).flatMap(each =>
    each.billingPeriod && (each.currency === null || each.currency === currency) ? [each.billingPeriod] : [],
  )

type Sold = { readonly id: string; readonly name: string; readonly items: readonly PricingItem[] }
/** What a version says it is sold in, where it says so. */
export type Offered = {
  readonly currencies?: readonly string[] | undefined
  readonly periods?: readonly PeriodLength[] | undefined
}
export type CoverageGap = { readonly pricing: Sold; readonly message: string }

/**
 * The first pricing without a price for a currency and a billing period of the version: those that it says it is sold in, else those
 * that any of its prices names. Null: every schedule in one of the currencies, and by one of the periods, can be priced.
 */
export function coverageGap(pricings: readonly Sold[], offered: Offered): CoverageGap | null {
  const items = pricings.flatMap(pricing => pricing.items)
  const currencies = offered.currencies ?? soldCurrencies(items)
  const periods = offered.periods ?? soldPeriods(items)
  for (const pricing of pricings) {
    for (const item of pricing.items) {
      for (const currency of currencies) {
        for (const billingPeriod of periods.length > 0 ? periods : [ANY_PERIOD]) {
          const lack = missingPriceOf(item, { currency, billingPeriod })
          if (lack === null || lack.kind === 'FALLBACK') continue
          return { pricing, message: gapText(pricing, lack, { currencies, billingPeriod, currency }) }
        }
      }
    }
  }
  return null
}

/** Where no price has a period of its own, any will do. */
const ANY_PERIOD: PeriodLength = { type: 'MONTH', value: 1 }

const gapText = (
  { name, id }: Sold,
  lack: MissingPrice,
  { currencies, currency, billingPeriod }: Terms & { readonly currencies: readonly string[] },
): string =>
  lack.kind === 'CURRENCY'
    ? `Prices are sold in ${currencies.join(', ')}, and the pricing ${name} (${id}) has no price in ${currency}; add one, or a fallback_currency.`
    : `Prices are sold by a billing period of ${periodText(billingPeriod)}, and the pricing ${name} (${id}) has no price in ${currency} for it; add one.`
