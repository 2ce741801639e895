// The currencies and billing periods that a version says it is sold in (semantics 3.1). Where it says nothing, its prices do.
import Type, { type Static } from 'typebox'
import { AppError } from '../../../../../shared/errors.ts'
import { Currency, Nullable, Optional, Period, Shape } from '../../../../resource/shapes.ts'
import type { PricingItem } from '../schema.ts'
import { type Offered, soldCurrencies, soldPeriods } from './coverage.ts'
import { isSameLength, periodText } from './period-length.ts'

const OFFERED_MAX = 50

export const CurrencySettings = Shape(
  {
    default_pricing_currency: Optional(Nullable(Currency)),
    pricing_currencies: Type.Array(Currency, { minItems: 1, maxItems: OFFERED_MAX, uniqueItems: true }),
  },
  { title: 'PricingCurrencySettings' },
)
export const PeriodSettings = Shape(
  {
    billing_periods: Type.Array(
      Shape(
        { period: Period, description: Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 }))) },
        { title: 'BillingPeriodOption' },
      ),
      { minItems: 1, maxItems: OFFERED_MAX },
    ),
  },
  { title: 'BillingPeriodSettings' },
)

type Settings = {
  readonly pricing_currency_settings: Static<typeof CurrencySettings> | null
  readonly billing_period_settings: Static<typeof PeriodSettings> | null
}

/** Throws INVALID_FIELD for a default currency that is not listed, and for a period that is listed twice. */
export function checkSettings({
  pricing_currency_settings: currencies,
  billing_period_settings: periods,
}: Settings): void {
  const { default_pricing_currency: first, pricing_currencies: all } = currencies ?? { pricing_currencies: [] }
  if (first && !all.includes(first)) {
    const message = `${first} is not in pricing_currencies; add it there, or choose one that is.`
    throw new AppError('INVALID_FIELD', message, { field: 'pricing_currency_settings.default_pricing_currency' })
  }
  const listed = (periods?.billing_periods ?? []).map(({ period }) => period)
  const twice = listed.findIndex((period, index) => listed.findIndex(other => isSameLength(other, period)) < index)
  const again = listed[twice]
  if (!again) return
  const message = `A billing period as long as ${periodText(again)} is listed already; list it once.`
  throw new AppError('INVALID_FIELD', message, { field: `billing_period_settings.billing_periods.${twice}.period` })
}

/** What the settings of a version say it is sold in. */
export const offeredBy = ({ pricing_currency_settings, billing_period_settings }: Settings): Offered => ({
  currencies: pricing_currency_settings?.pricing_currencies,
  periods: billing_period_settings?.billing_periods.map(({ period }) => period),
})

/** As a version shows them: its own, else what its prices are in; null where no price says. The first is the default. */
export function settingsShown(version: Partial<Settings>, items: readonly PricingItem[]) {
  const { pricing_currency_settings: currencies, billing_period_settings: periods } = version
  const [first = null, ...others] = currencies?.pricing_currencies ?? soldCurrencies(items)
  const sold = soldPeriods(items)
  return {
    pricing_currency_settings:
      first === null
        ? null
        : {
            default_pricing_currency: currencies?.default_pricing_currency ?? first,
            pricing_currencies: [first, ...others],
          },
    billing_period_settings:
      periods ?? (sold.length === 0 ? null : { billing_periods: sold.map(period => ({ period, description: null })) }),
  }
}
