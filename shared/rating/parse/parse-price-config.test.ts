import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { numberVolume } from '../price.ts'
import { rate } from '../rate.ts'
import {
  BANDS_MAX,
  type BandInput,
  currencyOfPrice,
  type PriceConfigInput,
  parsePriceConfig,
} from './parse-price-config.ts'

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
const topUp: PriceConfigInput = {
  pricing_type: 'FLAT_TOP_UP',
  bands: [{ amount: eur('1'), block_size: { number: '5' } }],
}

function accepted(input: PriceConfigInput, context: { metric: 'NUMBER' | 'AMOUNT' } = numbers) {
  const reading = parsePriceConfig(input, context)
  if (reading.kind === 'fault') throw new Error(reading.fault.message)
  return reading.config
}

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
    ['block_rounding', { ...flat({ amount: eur('1') }), block_rounding: 'SIDEWAYS' }, numbers],
    ['rate_per', { ...flat({ amount: eur('1') }), rate_per: 'HOUR' }, numbers],
    ['rate_per', { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }], rate_per: 'EVENT' }, numbers],
    ['top_up', { ...topUp, top_up: { rollover: true }, rate_per: 'EVENT' }, numbers],
    [
      'default_included_volume',
      { ...flat({ amount: eur('1') }), default_included_volume: { number: '1' }, rate_per: 'EVENT' },
      numbers,
    ],
    [
      'bands.0.tier_top_bound.count',
      { ...tiered({ tier_top_bound: { count: '1' }, amount: eur('1') }, { amount: eur('1') }), rate_per: 'EVENT' },
      numbers,
    ],
    [
      'bands.0.tier_top_bound.count',
      {
        pricing_type: 'TIERED_TOP_UP',
        bands: [
          { amount: eur('1'), block_size: { number: '1' }, tier_top_bound: { count: '1' } },
          { amount: eur('1'), block_size: { number: '1' } },
        ],
      },
      numbers,
    ],
    [
      'bands.0.block_size.count',
      { pricing_type: 'FLAT_TOP_UP', bands: [{ amount: eur('1'), block_size: { count: '5' } }] },
      numbers,
    ],
    [
      'bands.0.block_size.count',
      { pricing_type: 'FLAT_TOP_UP', bands: [{ amount: eur('1'), block_size: { count: '5' } }] },
      money,
    ],
  ]
  test.each(faults)('%s in %o', (field, input, context) => {
    const reading = parsePriceConfig(input, context)
    expect(reading.kind === 'fault' && reading.fault.field).toBe(field)
  })
})

describe('a price that is just within its rules', () => {
  test('as many bands as a price may have', () => {
    const bands = Array.from({ length: BANDS_MAX }, (_, at) =>
      at === BANDS_MAX - 1 ? { amount: eur('1') } : { amount: eur('1'), tier_top_bound: up(`${at + 1}`) },
    )
    expect(accepted(tiered(...bands)).bands).toHaveLength(BANDS_MAX)
  })

  test('null is the same as left out', () => {
    const config = accepted({
      ...flat({ amount: eur('1'), credits: null }),
      default_included_volume: null,
      block_rounding: null,
      rate_per: null,
    })
    expect(config).toMatchObject({ included: null, blockRounding: 'NONE', perEvent: false })
  })

  test('NONE drops the bands that came with it', () => {
    expect(accepted({ pricing_type: 'NONE', bands: [{ amount: eur('1') }] }).bands).toEqual([])
  })

  test('every band of tiers by events is by events, the last too, and of other tiers none is', () => {
    const byEvents = accepted(tiered({ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('2') }))
    expect(byEvents.bands.map(band => band.boundOf)).toEqual(['COUNT', 'COUNT'])
    const byQuantity = accepted(tiered({ amount: eur('1'), tier_top_bound: up('5') }, { amount: eur('2') }))
    expect(byQuantity.bands.map(band => band.boundOf)).toEqual(['QUANTITY', 'QUANTITY'])
  })

  test('the setting that was given is the one that rates', () => {
    expect(accepted({ ...flat({ amount: eur('1') }), rate_per: 'EVENT' }).perEvent).toBe(true)
    expect(accepted({ ...flat({ amount: eur('1') }), rate_per: 'PERIOD' }).perEvent).toBe(false)
    const blocks = flat({ amount: eur('1'), block_size: { number: '5' } })
    expect(accepted({ ...blocks, block_rounding: 'DOWN' }).blockRounding).toBe('DOWN')
  })
})

test('the refusal of a metric says what the type prices', () => {
  const message = (pricing_type: string, context: { metric: 'NUMBER' | 'AMOUNT' }): string => {
    const reading = parsePriceConfig({ pricing_type, bands: [{ amount: eur('1') }] }, context)
    return reading.kind === 'fault' ? reading.fault.message : ''
  }
  expect(message('PASS_THROUGH', numbers)).toBe('PASS_THROUGH prices metered money only.')
})

test('what is not a fault of the price is thrown', () => {
  const broken: PriceConfigInput = {
    pricing_type: 'FLAT',
    get bands(): never {
      throw new TypeError('not readable')
    },
  }
  expect(() => parsePriceConfig(broken, numbers)).toThrow(TypeError)
})
