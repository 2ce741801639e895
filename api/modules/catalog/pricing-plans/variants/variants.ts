// The variants of the price of a pricing item: by pricing currency, by billing period, or by both (semantics 3.1). Which one
// applies is decided here for everything that reads prices: billing, usage, and the checks of what is saved. Pure.
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { isSameLength } from './period-length.ts'

export type PeriodVariant<C> = { readonly billing_period: PeriodLength; readonly configs: readonly C[] }
export type CurrencyVariant<C> = {
  readonly currency: string
  /** The currency whose prices apply where this entry has none for a billing period. */
  readonly fallback_currency?: string | null | undefined
  readonly configs?: readonly C[] | null | undefined
  readonly billing_period_configs?: readonly PeriodVariant<C>[] | null | undefined
}
/** An item with `configs` that apply to every currency and billing period, or with one list of variants. */
export type WithVariants<C> = {
  readonly configs?: readonly C[] | null | undefined
  readonly pricing_currency_configs?: readonly CurrencyVariant<C>[] | null | undefined
  readonly billing_period_configs?: readonly PeriodVariant<C>[] | null | undefined
}

/** What a variant is for; null: for any. */
export type VariantKey = { readonly currency: string | null; readonly billingPeriod: PeriodLength | null }
export type Variant<C> = VariantKey & {
  /** Where its configs stand below the item, such as `pricing_currency_configs.0.configs`. */
  readonly path: string
  readonly configs: readonly C[]
}
/** What a schedule says: its pricing currency, and its billing period or that of its subscription. */
export type Terms = { readonly currency: string; readonly billingPeriod: PeriodLength }

/** What decides which variant of a price applies to a schedule. */
export const termsOf = (
  {
    pricing_currency,
    billing_period,
  }: { readonly pricing_currency: string; readonly billing_period: PeriodLength | null },
  subscription: { readonly billing_period: PeriodLength },
): Terms => ({ currency: pricing_currency, billingPeriod: billing_period ?? subscription.billing_period })

/** Every list of configs that an item has, in order; of an item without variants, the only one. */
export function variantsOf<C>(item: WithVariants<C>): Variant<C>[] {
  const plain = item.configs ?? []
  const found = [
    ...(item.pricing_currency_configs ?? []).flatMap((entry, index) => {
      const at = `pricing_currency_configs.${index}`
      return listsOf(entry, entry.currency, `${at}.`)
    }),
    ...periodsOf(item.billing_period_configs, null, ''),
  ]
  return plain.length > 0 || found.length === 0
    ? [{ currency: null, billingPeriod: null, path: 'configs', configs: plain }, ...found]
    : found
}

const listsOf = <C>(entry: CurrencyVariant<C>, currency: string, at: string): Variant<C>[] => [
  ...(entry.configs && entry.configs.length > 0
    ? [{ currency, billingPeriod: null, path: `${at}configs`, configs: entry.configs }]
    : []),
  ...periodsOf(entry.billing_period_configs, currency, at),
]

const periodsOf = <C>(
  entries: readonly PeriodVariant<C>[] | null | undefined,
  currency: string | null,
  at: string,
): Variant<C>[] =>
  (entries ?? []).map(({ billing_period: billingPeriod, configs }, index) => ({
    currency,
    billingPeriod,
    path: `${at}billing_period_configs.${index}.configs`,
    configs,
  }))

/** The configs of all variants, in order. */
export const allConfigs = <C>(item: WithVariants<C>): readonly C[] =>
  hasVariants(item) ? variantsOf(item).flatMap(({ configs }) => configs) : (item.configs ?? [])

/** The same, each with where it stands below the item, such as `configs.0`. */
export const placedConfigs = <C>(item: WithVariants<C>): { readonly config: C; readonly path: string }[] =>
  variantsOf(item).flatMap(({ configs, path }) =>
    configs.map((config, index) => ({ config, path: `${path}.${index}` })),
  )

/** The same item with what `change` makes of each config, in every variant. */
export function mapConfigs<C, I extends WithVariants<C>>(item: I, change: (config: C) => C): I {
  const all = (configs: readonly C[] | null | undefined) => configs?.map(change)
  const periods = (entries: readonly PeriodVariant<C>[] | null | undefined) =>
    entries?.map(entry => ({ ...entry, configs: entry.configs.map(change) }))
  const currencies = item.pricing_currency_configs?.map(entry => ({
    ...entry,
    ...(entry.configs ? { configs: all(entry.configs) } : {}),
    ...(entry.billing_period_configs ? { billing_period_configs: periods(entry.billing_period_configs) } : {}),
  }))
  return {
    ...item,
    ...(item.configs ? { configs: all(item.configs) } : {}),
    ...(currencies ? { pricing_currency_configs: currencies } : {}),
    ...(item.billing_period_configs ? { billing_period_configs: periods(item.billing_period_configs) } : {}),
  }
}

const hasVariants = ({ pricing_currency_configs, billing_period_configs }: WithVariants<unknown>): boolean =>
  (pricing_currency_configs ?? []).length + (billing_period_configs ?? []).length > 0

/** Whether some schedule could be priced by both. */
export const canOverlap = (a: VariantKey, b: VariantKey): boolean =>
  (a.currency === null || b.currency === null || a.currency === b.currency) &&
  (a.billingPeriod === null || b.billingPeriod === null || isSameLength(a.billingPeriod, b.billingPeriod))

/**
 * The variant that prices an item for a schedule: that of its currency and its billing period, else that of the fallback currency.
 * Null where there is none; schedules are refused then.
 */
export function variantFor<C>(item: WithVariants<C>, { currency, billingPeriod }: Terms): Variant<C> | null {
  const all = variantsOf(item)
  const entries = item.pricing_currency_configs ?? []
  if (entries.length === 0) return all.find(each => fits(each, billingPeriod)) ?? null
  const of = (wanted: string | null | undefined) =>
    all.find(each => each.currency === wanted && fits(each, billingPeriod)) ?? null
  const entry = entries.find(each => each.currency === currency)
  return entry ? (of(currency) ?? (entry.fallback_currency ? of(entry.fallback_currency) : null)) : null
}

const fits = ({ billingPeriod }: VariantKey, wanted: PeriodLength): boolean =>
  billingPeriod === null || isSameLength(billingPeriod, wanted)

/**
 * The item as a schedule sells it: with the configs of its variant alone, and their currency where it falls back to another. Null where
 * it has none; an item without variants is itself.
 */
export function itemFor<I extends WithVariants<unknown> & { readonly configs: readonly unknown[] }>(
  item: I,
  terms: Terms,
): I | null {
  if (!hasVariants(item)) return item
  const variant = variantFor(item, terms)
  if (!variant) return null
  const { pricing_currency_configs: _currencies, billing_period_configs: _periods, ...rest } = item
  // Only the configs are other ones, of the same type.
  const isFallback = variant.currency !== null && variant.currency !== terms.currency
  const fallback = isFallback ? { fallback_currency: variant.currency } : {}
  return { ...rest, ...fallback, configs: variant.configs } as unknown as I
}
