import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../../shared/errors.ts'
import { canonicalItems, withoutIds } from '../canonical-items.ts'
import type {
  PricingItem,
  PricingItemConfig,
  PricingItemConfigInput,
  PricingItemInput,
  SplitPricing,
} from '../schema.ts'
import { checkPrice, type Priced } from './check-price.ts'

const USAGE: Priced = { model: 'USAGE_BASED', metric: 'NUMBER' }
const MONEY: Priced = { model: 'USAGE_BASED', metric: 'AMOUNT' }
const RECURRING: Priced = { model: 'RECURRING' }
const ONE_OFF: Priced = { model: 'ONE_OFF' }
const PER_SEAT: Priced = { model: 'PER_SEAT' }
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

const itemOf = (config: PricingItemConfigInput): PricingItemInput => ({
  product_item_ids: ['proi_1'],
  configs: [config],
})

function configOf(config: PricingItemConfigInput): PricingItemConfig {
  const { split_pricing } = config
  const splits = new Map(
    split_pricing ? [['items.0.configs.0.split_pricing', split_pricing as SplitPricing] as const] : [],
  )
  const found = canonicalItems([itemOf(config)], [], { conditions: new Map(), splits })[0]?.configs[0]
  if (!found) throw new Error('one config in, one config out')
  return found
}

function faultOf(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `${error.code} ${error.details.field}`
  }
}

describe('a price', () => {
  const flat = { pricing_type: 'FLAT', bands: [{ amount: eur('1') }] }
  const lump = { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('1') }] }
  const split = (config: PricingItemConfigInput) => ({
    ...config,
    split_pricing: { meter_properties: [{ id: 'metp_1', reference: 'region' }] },
  })
  test.each<[string, PricingItemConfigInput, Priced, string | null]>([
    ['usage FLAT', flat, USAGE, null],
    ['usage FIXED', lump, USAGE, null],
    ['usage NONE without bands', { pricing_type: 'NONE' }, USAGE, null],
    ['usage in advance', { ...flat, billing_in_advance: true }, USAGE, 'INVALID_FIELD at.billing_in_advance'],
    ['percentages of money', { pricing_type: 'FLAT', bands: [{ percentage: '1' }] }, MONEY, null],
    [
      'percentages of numbers',
      { pricing_type: 'FLAT', bands: [{ percentage: '1' }] },
      USAGE,
      'INVALID_FIELD at.bands.0.percentage',
    ],
    ['blocks that are kept', { ...flat, pricing_type: 'FLAT_TOP_UP', top_up: { rollover: true } }, USAGE, null],
    ['a unit price that keeps blocks', { ...flat, top_up: { rollover: true } }, USAGE, 'INVALID_FIELD at.top_up'],
    ['steps that add up', { ...lump, pricing_type: 'STAIR_STEP', step_accumulation: 'STEPS_REACHED' }, USAGE, null],
    ['each event', { ...flat, rate_per: 'EVENT' }, USAGE, null],
    ['each event of a lump sum', { ...lump, rate_per: 'EVENT' }, USAGE, 'INVALID_FIELD at.rate_per'],
    ['each event of seats', { ...flat, rate_per: 'EVENT' }, PER_SEAT, 'INVALID_FIELD at.rate_per'],
    ['each event of a maximum', { ...flat, rate_per: 'EVENT' }, { ...USAGE, sums: false }, 'INVALID_FIELD at.rate_per'],
    [
      'each event at the tier of another metric',
      { ...flat, rate_per: 'EVENT' },
      { ...USAGE, tieringMetric: true },
      'INVALID_FIELD at.rate_per',
    ],
    [
      'each event with something included',
      { ...flat, rate_per: 'EVENT', default_included_volume: { number: '5' } },
      USAGE,
      'INVALID_FIELD at.default_included_volume',
    ],
    [
      'each event with a rest that is kept',
      { ...flat, pricing_type: 'FLAT_TOP_UP', rate_per: 'EVENT', top_up: { rollover: true } },
      USAGE,
      'INVALID_FIELD at.top_up',
    ],
    [
      'each event in a group',
      { ...flat, pricing_type: 'TIERED', rate_per: 'EVENT', volume_group_reference: 'all' },
      USAGE,
      'INVALID_FIELD at.volume_group_reference',
    ],
    ['each event, split', split({ ...flat, rate_per: 'EVENT' }), USAGE, 'INVALID_FIELD at.split_pricing'],
    [
      'each event in credits',
      { pricing_type: 'FLAT', rate_per: 'EVENT', bands: [{ credits: { quantity: '1', credit_type_id: 'crty_1' } }] },
      USAGE,
      'INVALID_FIELD at.rate_per',
    ],
    ['money as it is', { pricing_type: 'PASS_THROUGH' }, MONEY, null],
    ['numbers as money', { pricing_type: 'PASS_THROUGH' }, USAGE, 'INVALID_FIELD at.pricing_type'],
    ['a chosen amount for usage', { pricing_type: 'FLEXIBLE', bands: [{}] }, USAGE, 'INVALID_FIELD at.pricing_type'],
    [
      'a chosen amount each month',
      { pricing_type: 'FLEXIBLE', bands: [{}] },
      RECURRING,
      'INVALID_FIELD at.pricing_type',
    ],
    ['a chosen amount on demand', { pricing_type: 'FLEXIBLE', on_demand: true, bands: [{}] }, ONE_OFF, null],
    ['a chosen amount once', { pricing_type: 'FLEXIBLE', bands: [{}] }, ONE_OFF, 'INVALID_FIELD at.on_demand'],
    ['a pack on demand', { ...lump, on_demand: true }, ONE_OFF, null],
    ['a fee on demand', { ...lump, on_demand: true }, RECURRING, 'INVALID_FIELD at.on_demand'],
    ['usage on demand', { ...flat, on_demand: true }, USAGE, 'INVALID_FIELD at.on_demand'],
    ['seats on demand', { ...flat, on_demand: true }, PER_SEAT, 'INVALID_FIELD at.on_demand'],
    ['a lump sum each month', lump, RECURRING, null],
    ['a lump sum in advance', { ...lump, billing_in_advance: true }, RECURRING, null],
    ['a unit price each month', flat, RECURRING, 'INVALID_FIELD at.pricing_type'],
    ['nothing each month', { pricing_type: 'NONE' }, RECURRING, 'INVALID_FIELD at.pricing_type'],
    ['units sold once', { ...flat, default_units: { number: '3' } }, ONE_OFF, null],
    ['a lump sum once', lump, ONE_OFF, null],
    ['units of a lump sum', { ...lump, default_units: { number: '3' } }, ONE_OFF, 'INVALID_FIELD at.default_units'],
    ['no units', { ...flat, default_units: { number: '0' } }, ONE_OFF, 'INVALID_FIELD at.default_units.number'],
    [
      'units of money',
      { ...flat, default_units: { amount: eur('3') } },
      ONE_OFF,
      'INVALID_FIELD at.default_units.amount',
    ],
    ['units of events', { ...flat, default_units: { count: '3' } }, ONE_OFF, 'INVALID_FIELD at.default_units.count'],
    ['units of usage', { ...flat, default_units: { number: '3' } }, USAGE, 'INVALID_FIELD at.default_units'],
    ['tiers once', { pricing_type: 'TIERED', bands: [{ amount: eur('1') }] }, ONE_OFF, 'INVALID_FIELD at.pricing_type'],
    [
      'once a month',
      { ...flat, billing_period: { type: 'MONTH', value: 1 } },
      ONE_OFF,
      'INVALID_FIELD at.billing_period',
    ],
    ['seats', { ...flat, default_seats_value: { number: '0' } }, PER_SEAT, null],
    ['seats in tiers', { pricing_type: 'TIERED', bands: [{ amount: eur('1') }] }, PER_SEAT, null],
    ['seats in advance', { ...flat, billing_in_advance: true }, PER_SEAT, null],
    [
      'fewer than no seats',
      { ...flat, default_seats_value: { number: '-1' } },
      PER_SEAT,
      'INVALID_FIELD at.default_seats_value.number',
    ],
    [
      'seats of money',
      { ...flat, default_seats_value: { amount: eur('1') } },
      PER_SEAT,
      'INVALID_FIELD at.default_seats_value.amount',
    ],
    [
      'seats of usage',
      { ...flat, default_seats_value: { number: '1' } },
      USAGE,
      'INVALID_FIELD at.default_seats_value',
    ],
    [
      'seats in tiers of events',
      { pricing_type: 'TIERED', bands: [{ amount: eur('1'), tier_top_bound: { count: '5' } }, { amount: eur('2') }] },
      PER_SEAT,
      'INVALID_FIELD at.bands.0.tier_top_bound.count',
    ],
    ['a lump sum for seats', lump, PER_SEAT, 'INVALID_FIELD at.pricing_type'],
    ['seats in blocks', { ...flat, pricing_type: 'FLAT_TOP_UP' }, PER_SEAT, 'INVALID_FIELD at.pricing_type'],
    ['seats as money', { pricing_type: 'PASS_THROUGH' }, PER_SEAT, 'INVALID_FIELD at.pricing_type'],
    ['seats for nothing', { pricing_type: 'NONE' }, PER_SEAT, 'INVALID_FIELD at.pricing_type'],
    [
      'included seats',
      { ...flat, default_included_volume: { number: '1' } },
      PER_SEAT,
      'INVALID_FIELD at.default_included_volume',
    ],
    ['usage by value', split(flat), USAGE, null],
    ['seats by value', split(flat), PER_SEAT, 'INVALID_FIELD at.split_pricing'],
    ['a lump sum by value', split(lump), USAGE, 'INVALID_FIELD at.split_pricing'],
    ['nothing by value', split({ pricing_type: 'NONE' }), USAGE, 'INVALID_FIELD at.split_pricing'],
    [
      'usage by value in a group',
      { ...split(flat), pricing_type: 'TIERED', volume_group_reference: 'all' },
      USAGE,
      'INVALID_FIELD at.split_pricing',
    ],
    [
      'usage by value in tiers of other usage',
      { ...split(flat), pricing_type: 'TIERED' },
      { ...USAGE, tieringMetric: true },
      'INVALID_FIELD at.split_pricing',
    ],
    [
      'no price in any band',
      { pricing_type: 'FLAT', bands: [{ minimum_amount: eur('1') }] },
      USAGE,
      'MISSING_FIELD at.bands.0.amount',
    ],
    [
      'a free first tier',
      { pricing_type: 'TIERED', bands: [{ tier_top_bound: { number: '10' } }, { amount: eur('1') }] },
      USAGE,
      null,
    ],
    ['no bands', { pricing_type: 'FLAT' }, USAGE, 'INVALID_FIELD at.bands'],
    [
      'a year on a month, recurring',
      { ...lump, pricing_period: { type: 'YEAR', value: 1 }, billing_period: { type: 'MONTH', value: 1 } },
      RECURRING,
      null,
    ],
    [
      'a year on a month, usage',
      { ...flat, pricing_period: { type: 'YEAR', value: 1 }, billing_period: { type: 'MONTH', value: 1 } },
      USAGE,
      'INVALID_FIELD at.pricing_period',
    ],
    [
      'a month on a quarter, usage',
      { ...flat, pricing_period: { type: 'MONTH', value: 1 }, billing_period: { type: 'MONTH', value: 3 } },
      USAGE,
      null,
    ],
  ])('%s', (_name, config, priced, fault) => {
    expect(faultOf(() => checkPrice(configOf(config), priced, 'at'))).toBe(fault)
  })
})

describe('canonical items', () => {
  const period = fc.record({
    type: fc.constantFrom('DAY', 'WEEK', 'MONTH', 'YEAR'),
    value: fc.integer({ min: 1, max: 9 }),
  })
  const config = fc.record(
    {
      pricing_type: fc.constantFrom('FLAT', 'TIERED', 'FIXED', 'NONE'),
      billing_period: period,
      pricing_period: fc.option(period),
      bands: fc.array(fc.record({ amount: fc.constant(eur('1')) }), { maxLength: 3 }),
      order: fc.integer({ min: 0, max: 9 }),
      billing_in_advance: fc.boolean(),
    },
    { requiredKeys: ['pricing_type'] },
  )
  const item = fc.record({
    product_item_ids: fc.constant<string[]>(['proi_1']),
    configs: fc.array(config, { maxLength: 3 }),
  })

  test('sent back as they were shown they stay as they are', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), given => {
        const shown: PricingItem[] = canonicalItems(given as PricingItemInput[], [])
        expect(canonicalItems(shown, shown)).toEqual(shown)
      }),
    )
  })

  test('copied without ids they are the same but for new ones, none of which repeats', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 4 }), given => {
        const first = canonicalItems(given as PricingItemInput[], [])
        const second = canonicalItems(withoutIds(first), [])
        expect(withoutIds(second)).toEqual(withoutIds(first))
        const ids = [...first, ...second].flatMap(({ id, configs }) => [id, ...configs.map(each => each.id)])
        expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })

  test.each<[string, unknown[], string]>([
    ['an id of nothing', [{ id: 'prii_x', product_item_ids: [] }], 'INVALID_FIELD items.0.id'],
    ['no type', [itemOf({})], 'MISSING_FIELD items.0.configs.0.pricing_type'],
    ['two types', [itemOf({ pricing_type: 'FLAT', type: 'FIXED' })], 'INVALID_FIELD items.0.configs.0.type'],
    ['a type that is not priced', [itemOf({ type: 'PER_UNIT' })], 'INVALID_FIELD items.0.configs.0.type'],
  ])('%s is refused', (_name, given, fault) => {
    expect(faultOf(() => canonicalItems(given as PricingItemInput[], []))).toBe(fault)
  })

  test('an id stands once, and only where it was', () => {
    const shown = canonicalItems([itemOf({ pricing_type: 'NONE' }), itemOf({ pricing_type: 'NONE' })], [])
    const [one, two] = shown
    if (!one || !two) throw new Error('two items in, two items out')
    expect(faultOf(() => canonicalItems([one, one], shown))).toBe('INVALID_FIELD items.1.id')
    expect(faultOf(() => canonicalItems([{ ...one, configs: two.configs }], shown))).toBe(
      'INVALID_FIELD items.0.configs.0.id',
    )
    expect(faultOf(() => canonicalItems([two], shown))).toBe(null)
  })
})
