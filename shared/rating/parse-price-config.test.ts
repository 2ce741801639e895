import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import {
  BANDS_MAX,
  type BandInput,
  currencyOfPrice,
  type PriceConfigInput,
  parsePriceConfig,
} from './parse-price-config.ts'
import { numberVolume } from './price.ts'
import { rate } from './rate.ts'

const eur = (quantity: string): { quantity: string; currency: string } => ({ quantity, currency: 'EUR' })
const up = (number: string): BandInput['tier_top_bound'] => ({ number })
const numbers = { metric: 'NUMBER' } as const
const money = { metric: 'AMOUNT' } as const

test('a tiered price on the wire rates as it reads', () => {
  const reading = parsePriceConfig(
    {
      pricing_type: 'TIERED',
      bands: [
        { tier_top_bound: up('1000'), amount: eur('0.10'), percentage: null },
        { tier_top_bound: up('10000'), amount: eur('0.08') },
        { amount: eur('0.05'), block_size: { number: '1' } },
      ],
    },
    numbers,
  )
  if (reading.kind === 'fault') throw new Error(reading.fault.message)
  expect(reading.config.currency).toBe('EUR')
  expect(plain(rate(reading.config, numberVolume(decimal('12000'))).total.quantity)).toBe('920')
})

test('PASS_THROUGH can do without a band', () => {
  expect(parsePriceConfig({ pricing_type: 'PASS_THROUGH' }, money).kind).toBe('ok')
})

test('NONE needs no band', () => {
  expect(parsePriceConfig({ pricing_type: 'NONE' }, numbers).kind).toBe('ok')
})

test('the first amount names the currency', () => {
  expect(currencyOfPrice({ bands: [{ percentage: '1' }, { fixed_amount: { quantity: '1', currency: 'USD' } }] })).toBe(
    'USD',
  )
  expect(
    currencyOfPrice({
      bands: [{ percentage: '1' }],
      default_included_volume: { amount: { quantity: '1', currency: 'USD' } },
    }),
  ).toBe('USD')
  expect(currencyOfPrice({ bands: null })).toBeNull()
})

const flat = (band: BandInput): PriceConfigInput => ({ pricing_type: 'FLAT', bands: [band] })
const tiered = (...bands: BandInput[]): PriceConfigInput => ({ pricing_type: 'TIERED', bands })

describe('a price that cannot be billed is refused by its field', () => {
  const faults: readonly [string, PriceConfigInput, { metric: 'NUMBER' | 'AMOUNT'; currency?: string }][] = [
    ['pricing_type', { pricing_type: 'PER_UNIT', bands: [{ amount: eur('1') }] }, numbers],
    ['pricing_type', { pricing_type: 'toString' }, money],
    ['bands.0.amount', { pricing_type: 'FLAT_TOP_UP', bands: [{ block_size: { number: '5' } }] }, numbers],
    [
      'bands.0.fixed_amount',
      { pricing_type: 'FLAT_TOP_UP', bands: [{ amount: eur('1'), fixed_amount: eur('1') }] },
      numbers,
    ],
    ['pricing_type', { pricing_type: 'PASS_THROUGH' }, numbers],
    ['bands.0.amount', { pricing_type: 'PASS_THROUGH', bands: [{ amount: eur('1') }] }, money],
    ['bands.0.amount', { pricing_type: 'FLEXIBLE', bands: [{ amount: eur('1') }] }, numbers],
    [
      'bands.1.block_size',
      {
        pricing_type: 'TIERED_TOP_UP',
        bands: [
          { amount: eur('1'), tier_top_bound: up('5') },
          { amount: eur('1'), block_size: { number: '5' } },
        ],
      },
      numbers,
    ],
    ['top_up', { pricing_type: 'FLAT', bands: [{ amount: eur('1') }], top_up: { rollover: true } }, numbers],
    [
      'step_accumulation',
      { pricing_type: 'FLAT', bands: [{ amount: eur('1') }], step_accumulation: 'STEPS_REACHED' },
      numbers,
    ],
    [
      'step_accumulation',
      { pricing_type: 'STAIR_STEP', bands: [{ fixed_amount: eur('1') }], step_accumulation: 'ALL' },
      numbers,
    ],
    [
      'bands.0.block_size',
      { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1'), block_size: { number: '5' } }] },
      numbers,
    ],
    [
      'bands.0.minimum_number',
      { pricing_type: 'STAIR_STEP', bands: [{ fixed_amount: eur('1'), minimum_number: '5' }] },
      numbers,
    ],
    ...(
      [
        ['default_included_volume', {}, numbers],
        ['default_included_volume.number', { number: '0' }, numbers],
        ['default_included_volume.number', { number: '1e3' }, numbers],
        ['default_included_volume.amount', { amount: eur('1') }, numbers],
        ['default_included_volume.count', { number: '1', count: '1' }, numbers],
        ['default_included_volume.number', { number: '1' }, money],
        ['default_included_volume.amount.currency', { amount: { quantity: '1', currency: 'USD' } }, money],
        ['default_included_volume.reset_type', { number: '1', reset_type: 'NEVER' }, numbers],
      ] as const
    ).map(([field, default_included_volume, context]): [string, PriceConfigInput, typeof context] => [
      field,
      { ...flat({ amount: eur('1') }), default_included_volume },
      context,
    ]),
    [
      'default_included_volume',
      { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }], default_included_volume: { number: '1' } },
      numbers,
    ],
    ['default_included_volume', { pricing_type: 'NONE', default_included_volume: { number: '1' } }, numbers],
    ['bands', { pricing_type: 'FLAT', bands: [] }, numbers],
    ['bands', { pricing_type: 'TIERED' }, numbers],
    ['bands', { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }, { fixed_amount: eur('1') }] }, numbers],
    [
      'bands',
      tiered(...Array.from({ length: BANDS_MAX + 1 }, (_, at) => ({ tier_top_bound: up(`${at + 1}`) }))),
      numbers,
    ],
    ['bands.0.amount.quantity', flat({ amount: eur('1e3') }), numbers],
    ['bands.0.amount.currency', flat({ amount: eur('1') }), { metric: 'NUMBER', currency: 'USD' }],
    [
      'bands.0.fixed_amount.currency',
      flat({ amount: eur('1'), fixed_amount: { quantity: '1', currency: 'USD' } }),
      numbers,
    ],
    ['bands.0.credits', flat({ credits: { quantity: '1', credit_type_id: 'ctyp_x' } }), numbers],
    ['bands.0.percentage', flat({ percentage: '1.4' }), numbers],
    ['bands.0.percentage', { pricing_type: 'STAIR_STEP', bands: [{ percentage: '1', fixed_amount: eur('1') }] }, money],
    ['bands.0.block_size', flat({ amount: eur('1'), block_size: { number: '0' } }), numbers],
    ['bands.0.block_size.count', flat({ amount: eur('1'), block_size: { number: '1', count: '1' } }), numbers],
    ['bands.0.maximum_amount', flat({ minimum_amount: eur('2'), maximum_amount: eur('1') }), numbers],
    ['bands.0.maximum_number', flat({ minimum_number: '2', maximum_number: '1' }), numbers],
    ['bands.0.tier_top_bound', flat({ amount: eur('1'), tier_top_bound: up('10') }), numbers],
    ['bands.0.tier_top_bound', tiered({ amount: eur('1') }, { amount: eur('1') }), numbers],
    ['bands.0.tier_top_bound', tiered({ tier_top_bound: up('0') }, {}), numbers],
    ['bands.1.tier_top_bound', tiered({ tier_top_bound: up('10') }, { tier_top_bound: up('10') }, {}), numbers],
    ['bands.1.tier_top_bound', tiered({ tier_top_bound: up('10') }, { tier_top_bound: up('20') }), numbers],
    [
      'bands.1.tier_top_bound',
      tiered({ tier_top_bound: { count: '1' } }, { tier_top_bound: { number: '2' } }, {}),
      numbers,
    ],
    ['bands.0.tier_top_bound.amount', tiered({ tier_top_bound: { amount: eur('1') } }, {}), numbers],
    ['bands.0.amount', { pricing_type: 'FIXED', bands: [{ amount: eur('1'), fixed_amount: eur('1') }] }, numbers],
    ['bands.0.fixed_amount', { pricing_type: 'STAIR_STEP', bands: [{}] }, numbers],
  ]
  test.each(faults)('%s in %o', (field, input, context) => {
    const reading = parsePriceConfig(input, context)
    expect(reading.kind === 'fault' && reading.fault.field).toBe(field)
  })
})
