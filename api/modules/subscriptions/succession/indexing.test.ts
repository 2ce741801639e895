// Indexing of prices (semantics 4.3).
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import { type Indexing, indexed, indexedOverrides } from './indexing.ts'

test.each<[string, string, Partial<NonNullable<Indexing['indexing_settings']>>, string]>([
  ['0.0125', '3.5', {}, '0.0129375'],
  ['0.0125', '3.5', { rounding_mode: 'PRESERVE_SCALE' }, '0.0129'],
  ['0.0125', '3.5', { rounding_mode: 'DECIMALS', number_of_decimals: 2 }, '0.01'],
  ['100', '2.5', { rounding_mode: 'PRESERVE_SCALE' }, '103'],
  ['100', '2.5', {}, '102.5'],
  ['100', '-10', {}, '90'],
  ['0.000000000001', '3', {}, '0.000000000001'],
  ['2.50', '1', { rounding_mode: 'PRESERVE_SCALE' }, '2.53'],
  // The places stay, also where the last ones are zero: the next copy preserves them again.
  ['100.00', '10', { rounding_mode: 'PRESERVE_SCALE' }, '110.00'],
  ['110.00', '3.5', { rounding_mode: 'PRESERVE_SCALE' }, '113.85'],
  ['0.010', '1', { rounding_mode: 'PRESERVE_SCALE' }, '0.010'],
  ['100', '2.5', { rounding_mode: 'DECIMALS', number_of_decimals: 2 }, '102.50'],
])('%s by %s %% with %j is %s', (quantity, percentage, rounding, expected) => {
  expect(indexed(quantity, { percentage, ...rounding })).toBe(expected)
})

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const item = (id: string, configs: readonly string[]): PricingItem =>
  ({
    id,
    configs: configs.map(config => ({
      id: config,
      bands: [{ amount: eur('10'), fixed_amount: eur('100'), percentage: '5', minimum_number: '2' }],
    })),
  }) as unknown as PricingItem
const SOLD = [
  { id: 'P', items: [item('i', ['a', 'b'])] },
  { id: 'Q', items: [item('j', ['c']), { id: 'k', configs: [{ id: 'd', bands: [] }] } as unknown as PricingItem] },
]
const five = { percentage: '5' }
const shown = (indexing: Indexing): string[] =>
  indexedOverrides(SOLD, indexing).flatMap(({ original_pricing_id: id, items }) =>
    items.flatMap(({ configs }) =>
      configs.map(config => `${id} ${config.original_pricing_item_config_id} ${config.bands?.[0]?.amount?.quantity}`),
    ),
  )

describe('what is indexed', () => {
  test.each<[string, Indexing, string[]]>([
    ['nothing when nothing is said', {}, []],
    ['everything with an amount', { indexing_settings: five }, ['P a 10.5', 'P b 10.5', 'Q c 10.5']],
    ['the targets alone', { indexing_settings: five, pricings: [{ id: 'Q' }] }, ['Q c 10.5']],
    [
      'the narrowest target counts',
      {
        pricings: [{ id: 'P', indexing_settings: five }],
        pricing_items: [{ id: 'i', indexing_settings: { percentage: '10' } }],
        pricing_item_configs: [{ id: 'b', indexing_settings: { percentage: '20' } }],
      },
      ['P a 11', 'P b 12'],
    ],
  ])('%s', (_title, indexing, expected) => expect(shown(indexing)).toEqual(expected))

  test('amounts, and neither percentages nor numbers', () => {
    const [first] = indexedOverrides(SOLD, { indexing_settings: five })
    expect(first?.items[0]?.configs[0]?.bands).toEqual([
      { amount: eur('10.5'), fixed_amount: eur('105'), percentage: '5', minimum_number: '2' },
    ])
  })
})

describe('prices by currency and billing period', () => {
  const bands = (quantity: string) => [{ amount: eur(quantity) }]
  const MONTH = { type: 'MONTH', value: 1 } as const
  const varied = {
    id: 'v',
    configs: [],
    pricing_currency_configs: [
      { currency: 'EUR', configs: [{ id: 'e', bands: bands('10') }] },
      {
        currency: 'USD',
        billing_period_configs: [{ billing_period: MONTH, configs: [{ id: 'u', bands: bands('20') }] }],
      },
    ],
  } as unknown as PricingItem
  const sold = [{ id: 'P', items: [varied] }]
  const amounts = (indexing: Indexing) =>
    indexedOverrides(sold, indexing).flatMap(({ items }) =>
      items.flatMap(({ configs }) =>
        configs.map(config => [config.original_pricing_item_config_id, config.bands?.[0]?.amount?.quantity]),
      ),
    )

  test.each<[string, Indexing, string[][]]>([
    [
      'are all indexed',
      { indexing_settings: five },
      [
        ['e', '10.5'],
        ['u', '21'],
      ],
    ],
    ['are targets too', { pricing_item_configs: [{ id: 'u', indexing_settings: five }] }, [['u', '21']]],
  ])('%s', (_title, indexing, expected) => expect(amounts(indexing)).toEqual(expected))
})

test.each<[Indexing, string, string]>([
  [{ pricings: [{ id: 'other', indexing_settings: five }] }, 'pricings.0.id', 'RESOURCE_NOT_FOUND'],
  [{ pricing_items: [{ id: 'P', indexing_settings: five }] }, 'pricing_items.0.id', 'RESOURCE_NOT_FOUND'],
  [{ pricings: [{ id: 'P' }] }, 'pricings.0.indexing_settings', 'MISSING_FIELD'],
  [{ indexing_settings: five, pricings: [{ id: 'P' }, { id: 'P' }] }, 'pricings.1.id', 'INVALID_FIELD'],
  [{ indexing_settings: { percentage: '-100' } }, 'indexing_settings.percentage', 'INVALID_FIELD'],
  [
    { indexing_settings: { ...five, rounding_mode: 'DECIMALS' } },
    'indexing_settings.number_of_decimals',
    'MISSING_FIELD',
  ],
  [{ indexing_settings: { ...five, number_of_decimals: 2 } }, 'indexing_settings.number_of_decimals', 'INVALID_FIELD'],
  [{ indexing_settings: { percentage: '9'.repeat(26) } }, 'indexing_settings.percentage', 'INVALID_FIELD'],
  [
    { indexing_settings: five, pricings: [{ id: 'P', indexing_settings: { percentage: '9'.repeat(26) } }] },
    'pricings.0.indexing_settings.percentage',
    'INVALID_FIELD',
  ],
])('%j is refused at %s', (indexing, field, code) => {
  const refused = () => indexedOverrides(SOLD, indexing)
  expect(refused).toThrow(AppError)
  expect(refused).toThrow(expect.objectContaining({ code, details: expect.objectContaining({ field }) }))
})
