// Which price applies to a schedule, which items contradict themselves, and whether a version has a price for all it is sold in
// (semantics 3.1).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { canonicalItems, withoutIds } from '../canonical-items.ts'
import type { PricingItem, PricingItemInput } from '../schema.ts'
import { checkVariants } from './check-variants.ts'
import { coverageGap, missingPriceOf, soldCurrencies, soldPeriods } from './coverage.ts'
import { isSameLength, isWholeMultiple } from './period-length.ts'
import { checkSettings, settingsShown } from './settings.ts'
import {
  allConfigs,
  canOverlap,
  itemFor,
  placedConfigs,
  variantFor,
  variantsOf,
  type WithVariants,
} from './variants.ts'

const MONTH: PeriodLength = { type: 'MONTH', value: 1 }
const YEAR: PeriodLength = { type: 'YEAR', value: 1 }
const QUARTER: PeriodLength = { type: 'MONTH', value: 3 }

const PLAIN: WithVariants<string> = { configs: ['all'] }
const BY_PERIOD: WithVariants<string> = {
  configs: [],
  billing_period_configs: [
    { billing_period: MONTH, configs: ['month'] },
    { billing_period: YEAR, configs: ['year'] },
  ],
}
const BY_BOTH: WithVariants<string> = {
  configs: [],
  pricing_currency_configs: [
    { currency: 'EUR', configs: ['eur'] },
    {
      currency: 'USD',
      fallback_currency: 'EUR',
      billing_period_configs: [{ billing_period: MONTH, configs: ['usd month'] }],
    },
    { currency: 'GBP', fallback_currency: 'USD' },
    { currency: 'JPY', fallback_currency: 'EUR' },
  ],
}

describe('the variant of a schedule', () => {
  test.each<[string, WithVariants<string>, string, PeriodLength, string | null]>([
    ['plain configs are for all', PLAIN, 'USD', QUARTER, 'all'],
    ['the billing period decides', BY_PERIOD, 'EUR', MONTH, 'month'],
    ['12 months are a year', BY_PERIOD, 'EUR', { type: 'MONTH', value: 12 }, 'year'],
    ['no price for a quarter', BY_PERIOD, 'EUR', QUARTER, null],
    ['30 days are no month', BY_PERIOD, 'EUR', { type: 'DAY', value: 30 }, null],
    ['the currency decides', BY_BOTH, 'EUR', QUARTER, 'eur'],
    ['currency and billing period decide', BY_BOTH, 'USD', MONTH, 'usd month'],
    ['a currency without the period falls back', BY_BOTH, 'USD', YEAR, 'eur'],
    ['a currency without prices falls back', BY_BOTH, 'JPY', MONTH, 'eur'],
    ['a fallback may lack the period as well', BY_BOTH, 'GBP', YEAR, null],
    ['a fallback has the period', BY_BOTH, 'GBP', MONTH, 'usd month'],
    ['no price in francs', BY_BOTH, 'CHF', MONTH, null],
  ])('%s', (_name, item, currency, billingPeriod, expected) => {
    const found = variantFor(item, { currency, billingPeriod })
    expect(found?.configs[0] ?? null).toBe(expected)
  })

  test('an item without variants is sold as it is, one with variants by those configs alone', () => {
    const plain = { id: 'a', configs: ['all'] }
    expect(itemFor(plain, { currency: 'EUR', billingPeriod: MONTH })).toBe(plain)
    const item = { id: 'b', configs: [], ...BY_PERIOD }
    expect(itemFor({ ...item, configs: [] as string[] }, { currency: 'EUR', billingPeriod: YEAR })).toEqual({
      id: 'b',
      configs: ['year'],
    })
    expect(itemFor({ ...item, configs: [] as string[] }, { currency: 'EUR', billingPeriod: QUARTER })).toBe(null)
  })

  test('every config is listed once, with where it stands', () => {
    expect(allConfigs(BY_BOTH)).toEqual(['eur', 'usd month'])
    expect(placedConfigs(BY_BOTH).map(({ path }) => path)).toEqual([
      'pricing_currency_configs.0.configs.0',
      'pricing_currency_configs.1.billing_period_configs.0.configs.0',
    ])
    expect(placedConfigs(PLAIN).map(({ path }) => path)).toEqual(['configs.0'])
  })

  test('what is found for a schedule is one of the variants, and two that are found for different ones do not meet', () => {
    const period = fc.constantFrom(MONTH, QUARTER, YEAR)
    const currency = fc.constantFrom('EUR', 'USD', 'JPY')
    const periods = fc.uniqueArray(period, { selector: ({ type, value }) => `${value} ${type}` })
    const entries = fc.uniqueArray(
      fc.record({
        currency,
        billing_period_configs: periods.map(list =>
          list.map(billing_period => ({ billing_period, configs: [JSON.stringify(billing_period)] })),
        ),
      }),
      { selector: entry => entry.currency, minLength: 1 },
    )
    fc.assert(
      fc.property(entries, currency, period, (pricing_currency_configs, wanted, billingPeriod) => {
        const item = { configs: [], pricing_currency_configs }
        const found = variantFor<string>(item, { currency: wanted, billingPeriod })
        const fitting = variantsOf<string>(item).filter(each => canOverlap(each, { currency: wanted, billingPeriod }))
        // An item whose entries are all empty has one list, which is empty too.
        expect(found?.path ?? null).toBe(fitting.find(({ configs }) => configs.length > 0)?.path ?? null)
      }),
    )
  })

  test.each<[PeriodLength, PeriodLength, boolean, boolean]>([
    [YEAR, { type: 'MONTH', value: 12 }, true, true],
    [YEAR, QUARTER, false, true],
    [QUARTER, YEAR, false, false],
    [{ type: 'WEEK', value: 2 }, { type: 'DAY', value: 14 }, true, true],
    [MONTH, { type: 'WEEK', value: 1 }, false, false],
  ])('%o beside %o', (a, b, same, whole) => {
    expect([isSameLength(a, b), isWholeMultiple(a, b)]).toEqual([same, whole])
  })
})

const flat = (currency: string | null, over: object = {}) => ({
  pricing_type: currency === null ? 'NONE' : 'FLAT',
  bands: currency === null ? [] : [{ amount: { quantity: '1', currency } }],
  ...over,
})
const itemOf = (over: Omit<PricingItemInput, 'product_item_ids'>): PricingItem => {
  const [item] = canonicalItems([{ product_item_ids: ['proi_1'], ...over }], [])
  if (!item) throw new Error('one item in, one item out')
  return item
}
const faultOf = (work: () => unknown): string | null => {
  try {
    work()
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `${error.code} ${error.details.field}`
  }
}
const monthly = (currency: string) => [{ billing_period: MONTH, configs: [flat(currency)] }]

describe('an item', () => {
  test.each<[string, Omit<PricingItemInput, 'product_item_ids'>, string | null]>([
    ['plain', { configs: [flat('EUR')] }, null],
    ['nothing', {}, 'INVALID_FIELD at.configs'],
    [
      'two lists',
      { configs: [flat('EUR')], billing_period_configs: monthly('EUR') },
      'INVALID_FIELD at.billing_period_configs',
    ],
    [
      'currencies',
      {
        pricing_currency_configs: [
          { currency: 'EUR', configs: [flat('EUR')] },
          { currency: 'USD', fallback_currency: 'EUR' },
        ],
      },
      null,
    ],
    [
      'a currency twice',
      {
        pricing_currency_configs: [
          { currency: 'EUR', configs: [flat('EUR')] },
          { currency: 'EUR', configs: [flat('EUR')] },
        ],
      },
      'INVALID_FIELD at.pricing_currency_configs.1.currency',
    ],
    [
      'both lists in one currency',
      {
        pricing_currency_configs: [{ currency: 'EUR', configs: [flat('EUR')], billing_period_configs: monthly('EUR') }],
      },
      'INVALID_FIELD at.pricing_currency_configs.0.billing_period_configs',
    ],
    [
      'neither prices nor a fallback',
      { pricing_currency_configs: [{ currency: 'EUR' }] },
      'MISSING_FIELD at.pricing_currency_configs.0.configs',
    ],
    [
      'a fallback to itself',
      {
        pricing_currency_configs: [
          { currency: 'EUR', fallback_currency: 'EUR', billing_period_configs: monthly('EUR') },
        ],
      },
      'INVALID_FIELD at.pricing_currency_configs.0.fallback_currency',
    ],
    [
      'a fallback to a currency without prices',
      {
        pricing_currency_configs: [
          { currency: 'EUR', configs: [flat('EUR')] },
          { currency: 'USD', fallback_currency: 'EUR' },
          { currency: 'GBP', fallback_currency: 'USD' },
        ],
      },
      'INVALID_FIELD at.pricing_currency_configs.2.fallback_currency',
    ],
    [
      'a fallback that is never used',
      {
        pricing_currency_configs: [
          { currency: 'EUR', configs: [flat('EUR')] },
          { currency: 'USD', configs: [flat('USD')], fallback_currency: 'EUR' },
        ],
      },
      'INVALID_FIELD at.pricing_currency_configs.1.fallback_currency',
    ],
    [
      'a billing period twice',
      {
        billing_period_configs: [
          { billing_period: YEAR, configs: [flat('EUR')] },
          { billing_period: { type: 'MONTH', value: 12 }, configs: [flat('EUR')] },
        ],
      },
      'INVALID_FIELD at.billing_period_configs.1.billing_period',
    ],
    [
      'two defaults in one variant',
      { billing_period_configs: [{ billing_period: YEAR, configs: [flat('EUR'), flat('EUR')] }] },
      'INVALID_FIELD at.billing_period_configs.0.configs.1.conditions',
    ],
    [
      'a variant without configs',
      { billing_period_configs: [{ billing_period: YEAR, configs: [] }] },
      'INVALID_FIELD at.billing_period_configs.0.configs',
    ],
  ])('%s', (_name, item, fault) => {
    expect(faultOf(() => checkVariants(itemOf(item), 'at'))).toBe(fault)
  })

  test('ids of configs are kept when they are sent back, in any variant, and once', () => {
    const before = itemOf({ configs: [flat('EUR')] })
    const [id] = before.configs.map(config => config.id)
    const moved = (twice: boolean): PricingItemInput => ({
      id: before.id,
      product_item_ids: before.product_item_ids,
      pricing_currency_configs: [
        { currency: 'EUR', configs: [flat('EUR', { id })] },
        { currency: 'USD', configs: [flat('USD', twice ? { id } : {})] },
      ],
    })
    const [after] = canonicalItems([moved(false)], [before])
    expect(after && allConfigs(after)[0]?.id).toBe(id)
    expect(faultOf(() => canonicalItems([moved(true)], [before]))).toBe(
      'INVALID_FIELD items.0.pricing_currency_configs.1.configs.0.id',
    )
    const copy = canonicalItems(withoutIds(after ? [after] : []), [])
    expect(copy.map(item => item.pricing_currency_configs?.map(({ currency }) => currency))).toEqual([['EUR', 'USD']])
    expect(copy.flatMap(item => allConfigs(item).map(config => config.id))).not.toContain(id)
  })
})

const EUR_ONLY = itemOf({ configs: [flat('EUR')] })
const FREE = itemOf({ configs: [flat(null)] })
const TWO = itemOf({
  pricing_currency_configs: [
    { currency: 'EUR', configs: [flat('EUR')] },
    { currency: 'USD', billing_period_configs: monthly('USD') },
  ],
})
const GBP_FROM_EUR = itemOf({
  pricing_currency_configs: [
    { currency: 'EUR', configs: [flat('EUR')] },
    { currency: 'GBP', fallback_currency: 'EUR' },
    { currency: 'CHF', configs: [flat(null)] },
    { currency: 'SEK', fallback_currency: 'CHF' },
  ],
})
const YEARLY = itemOf({ billing_period_configs: [{ billing_period: YEAR, configs: [flat('EUR')] }] })

describe('what a version is sold in', () => {
  test('currencies and billing periods are those that prices name, each once', () => {
    expect(soldCurrencies([EUR_ONLY, FREE, TWO, GBP_FROM_EUR])).toEqual(['EUR', 'USD', 'GBP', 'CHF', 'SEK'])
    expect(soldPeriods([YEARLY, TWO, YEARLY])).toEqual([YEAR, MONTH])
  })

  test.each<[string, PricingItem, string, PeriodLength, unknown]>([
    ['its currency', EUR_ONLY, 'EUR', MONTH, null],
    ['another currency', EUR_ONLY, 'USD', MONTH, { kind: 'CURRENCY', sold: ['EUR'] }],
    ['no money', FREE, 'USD', MONTH, null],
    ['a currency that is no variant', TWO, 'GBP', MONTH, { kind: 'CURRENCY', sold: ['EUR', 'USD'] }],
    ['a period that is no variant', TWO, 'USD', YEAR, { kind: 'BILLING_PERIOD', sold: [MONTH] }],
    ['a fallback in another currency', GBP_FROM_EUR, 'GBP', MONTH, { kind: 'FALLBACK', to: 'EUR' }],
    ['a fallback that costs no money', GBP_FROM_EUR, 'SEK', MONTH, null],
  ])('%s', (_name, item, currency, billingPeriod, lack) => {
    expect(missingPriceOf(item, { currency, billingPeriod })).toEqual(lack)
  })

  const gap = (items: PricingItem[], offered: Parameters<typeof coverageGap>[1] = {}) =>
    coverageGap(
      items.map((item, index) => ({ id: `prcg_${index}`, name: 'P', items: [item] })),
      offered,
    )?.pricing.id ?? null
  test.each<[string, string | null, string | null]>([
    ['prices in one currency', gap([EUR_ONLY, FREE, YEARLY]), null],
    ['prices, one without a currency', gap([TWO, EUR_ONLY]), 'prcg_1'],
    ['a fallback is a price', gap([GBP_FROM_EUR]), null],
    ['prices, one without a period', gap([YEARLY, TWO], { currencies: ['USD'] }), 'prcg_0'],
    ['a currency that no price has', gap([EUR_ONLY], { currencies: ['EUR', 'USD'] }), 'prcg_0'],
    ['a currency that is not sold', gap([TWO, EUR_ONLY], { currencies: ['EUR'] }), null],
    ['a period that no price has', gap([YEARLY], { periods: [YEAR, MONTH] }), 'prcg_0'],
  ])('%s', (_name, found, expected) => {
    expect(found).toBe(expected)
  })

  test('settings are those of the version, else what its prices name', () => {
    expect(settingsShown({}, [FREE])).toEqual({ pricing_currency_settings: null, billing_period_settings: null })
    expect(settingsShown({}, [TWO])).toEqual({
      pricing_currency_settings: { default_pricing_currency: 'EUR', pricing_currencies: ['EUR', 'USD'] },
      billing_period_settings: { billing_periods: [{ period: MONTH, description: null }] },
    })
    const own = { pricing_currencies: ['USD', 'EUR'], default_pricing_currency: 'EUR' }
    expect(
      settingsShown(
        { pricing_currency_settings: own, billing_period_settings: { billing_periods: [{ period: YEAR }] } },
        [TWO],
      ),
    ).toEqual({ pricing_currency_settings: own, billing_period_settings: { billing_periods: [{ period: YEAR }] } })
  })

  test('settings contradict themselves by a default that is not listed, or a period that is listed twice', () => {
    const currency = { pricing_currencies: ['USD'], default_pricing_currency: 'EUR' }
    const period = { billing_periods: [{ period: YEAR }, { period: { type: 'MONTH' as const, value: 12 } }] }
    expect(faultOf(() => checkSettings({ pricing_currency_settings: currency, billing_period_settings: null }))).toBe(
      'INVALID_FIELD pricing_currency_settings.default_pricing_currency',
    )
    expect(faultOf(() => checkSettings({ pricing_currency_settings: null, billing_period_settings: period }))).toBe(
      'INVALID_FIELD billing_period_settings.billing_periods.1.period',
    )
  })
})
