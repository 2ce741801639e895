// What each band says beside its cost: which band it is, how many units and events it took, and the pieces that its cost consists of.
import { expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import { amountVolume, numberVolume, type Volume } from './price.ts'
import { type PriceConfig, rate } from './rate.ts'
import { price, priceOf } from './testing/prices.ts'

const used = (number: string, events = '3'): Volume => ({ ...numberVolume(decimal(number)), count: decimal(events) })

const saidOf = (config: PriceConfig, volume: Volume): string[] =>
  rate(config, volume).charges.map(({ bandIndex, units, events, pieces }) => {
    const parts = pieces.map(({ kind, quantity }) => `${kind} ${plain(quantity)}`)
    return `${bandIndex}: ${plain(units)} units, ${plain(events)} events: ${parts.join(' + ')}`
  })

const TIERS = [{ topBound: '10', amount: '2', fixedAmount: '5' }, { amount: '1' }] as const
const BLOCKS = [
  { topBound: '20', amount: '10', blockSize: '10' },
  { amount: '8', blockSize: '10' },
] as const
const SHARES = [
  { topBound: '100', percentage: '10', amount: '1' },
  { percentage: '5', amount: '2' },
] as const

test.each<[string, PriceConfig, Volume, string[]]>([
  ['NONE', price('NONE', {}), used('9'), []],
  ['FIXED', price('FIXED', { fixedAmount: '25' }), used('9'), ['0: 9 units, 3 events: FEE 25']],
  ['FLEXIBLE', price('FLEXIBLE', { minimumAmount: '5' }), used('40'), ['0: 40 units, 3 events: FEE 40']],
  [
    'STAIR_STEP',
    price('STAIR_STEP', { topBound: '10', fixedAmount: '50' }, { fixedAmount: '200' }),
    used('12'),
    ['1: 12 units, 3 events: FEE 200'],
  ],
  [
    'TIERED_TOP_UP',
    price('TIERED_TOP_UP', ...BLOCKS),
    used('35'),
    ['0: 20 units, 3 events: BLOCKS 20', '1: 20 units, 3 events: BLOCKS 16'],
  ],
  ['TIERED_TOP_UP, nothing', price('TIERED_TOP_UP', ...BLOCKS), used('0'), ['0: 0 units, 3 events: BLOCKS 0']],
  [
    'TIERED_TOP_UP, the first band is smaller than a block',
    price('TIERED_TOP_UP', { topBound: '5', amount: '10', blockSize: '10' }, { amount: '8', blockSize: '10' }),
    used('3'),
    ['1: 10 units, 3 events: BLOCKS 8'],
  ],
  [
    'TIERED by numbers: tiers have no events of their own',
    price('TIERED', ...TIERS),
    used('12'),
    ['0: 10 units, 0 events: FEE 5 + UNITS 20', '1: 2 units, 0 events: UNITS 2'],
  ],
  [
    'TIERED by amounts: each tier has its share of the events',
    priceOf('TIERED', SHARES, { metric: 'AMOUNT' }),
    amountVolume(decimal('400'), 'EUR', decimal('8')),
    ['0: 100 units, 2 events: PERCENTAGE 10 + EVENTS 2', '1: 300 units, 6 events: PERCENTAGE 15 + EVENTS 12'],
  ],
])('%s', (_name, config, volume, expected) => expect(saidOf(config, volume)).toEqual(expected))

test('a block without a price is refused where its price belongs', () => {
  const withoutPrice = () =>
    price('TIERED_TOP_UP', { topBound: '20', blockSize: '10' }, { amount: '8', blockSize: '10' })
  expect(withoutPrice).toThrow('bands.0.amount: A block needs its price: give amount.')
})
