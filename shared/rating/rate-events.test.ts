import { expect, test } from 'vitest'
import { decimal, plain, sum } from '../decimal.ts'
import { amountVolume, numberVolume } from './price.ts'
import type { PriceConfig, RatedPrice } from './rate.ts'
import { eventsOfOneSize, rateEvents } from './rate-events.ts'
import { type BandText, price, priceOf } from './testing/prices.ts'

test.each<[quantity: string, times: string, each: readonly string[] | null]>([
  ['10', '4', ['2.5']],
  ['0', '3', ['0']],
  ['0', '0', []],
  // No event has no usage, three equal ones do not add up to 10, and there is no half event.
  ['10', '0', null],
  ['10', '3', null],
  ['10', '2.5', null],
])('%s in %s events of one size', (quantity, times, each) => {
  const events = eventsOfOneSize(numberVolume(decimal(quantity)), decimal(times))
  expect(events?.map(of => plain(of.each.quantity)) ?? null).toEqual(each)
  if (events?.[0]) expect([plain(events[0].times), plain(events[0].each.count)]).toEqual([times, '1'])
})

/** The figures of each charge, as a person would read them. */
const figures = ({ charges }: RatedPrice): string[] =>
  charges.map(({ bandIndex, units, events, pieces, quantity }) => {
    const said = pieces.map(({ kind, ...piece }) => {
      const values = Object.values(piece).map(value => (typeof value === 'string' ? value : plain(value)))
      return `${kind} ${values.join(' ')}`
    })
    return `band ${bandIndex}: ${plain(units)} in ${plain(events)}: ${said.join(', ')} = ${plain(quantity)}`
  })
const money = (bands: readonly BandText[], type = 'FLAT') => priceOf(type, bands, { metric: 'AMOUNT' })

const isOfMoney = ({ bands: [band], pricingType }: PriceConfig): boolean =>
  band?.percentage !== null || pricingType === 'PASS_THROUGH'

// Two events of 3 and five of 4; of money the same in euros. Every figure is the sum of both sizes.
test.each<[string, PriceConfig, string[]]>([
  [
    'a fee and units',
    price('FLAT', { fixedAmount: '1', amount: '0.5' }),
    // 7 fees of 1; 2 x 3 + 5 x 4 = 26 units at 0.5.
    ['band 0: 26 in 7: FEES 7 1 7, UNITS 13 26 0.5 1 = 20'],
  ],
  [
    'whole blocks of 2',
    price('FLAT_TOP_UP', { amount: '3', blockSize: '2' }),
    // 3 and 4 units are two blocks each.
    ['band 0: 26 in 7: BLOCKS 42 14 3 2 = 42'],
  ],
  [
    'a minimum that every event is below',
    price('FLAT', { amount: '0.5', minimumAmount: '5' }),
    // Before it: 2 x 1.5 + 5 x 2 = 13; the minimum adds the 22 to 7 x 5.
    ['band 0: 26 in 7: UNITS 13 26 0.5 1, BOUND 22 MINIMUM_AMOUNT 5 7 = 35'],
  ],
  [
    'a maximum that the larger ones reach',
    price('FLAT', { amount: '1', maximumAmount: '3.5' }),
    ['band 0: 6 in 2: UNITS 6 6 1 1 = 6', 'band 0: 20 in 5: UNITS 20 20 1 1, BOUND -2.5 MAXIMUM_AMOUNT 3.5 5 = 17.5'],
  ],
  [
    'tiers within each event',
    price('TIERED', { amount: '1', topBound: '3' }, { amount: '0.5' }),
    ['band 0: 21 in 7: UNITS 21 21 1 1 = 21', 'band 1: 5 in 5: UNITS 2.5 5 0.5 1 = 2.5'],
  ],
  [
    'a percentage and a price of events',
    money([{ percentage: '10', amount: '0.25' }]),
    ['band 0: 26 in 7: PERCENTAGE 2.6 26 10, EVENTS 1.75 7 0.25 1 = 4.35'],
  ],
  ['money passed on', money([{}], 'PASS_THROUGH'), ['band 0: 26 in 7: PASSED 26 = 26']],
  [
    'the two bands of TOP_TIERED, in their order',
    price('TOP_TIERED', { amount: '2', topBound: '3' }, { amount: '1' }),
    ['band 0: 6 in 2: UNITS 12 6 2 1 = 12', 'band 1: 20 in 5: UNITS 20 20 1 1 = 20'],
  ],
])('%s of events of two sizes', (_, config, expected) => {
  const volume = (quantity: string) =>
    isOfMoney(config)
      ? amountVolume(decimal(quantity), 'EUR', decimal('1'))
      : numberVolume(decimal(quantity), decimal('1'))
  const sizes = [
    { each: volume('3'), times: decimal('2') },
    { each: volume('4'), times: decimal('5') },
  ]
  const none = { ...volume('0'), count: decimal('0') }
  expect(figures(rateEvents(config, sizes, none))).toEqual(expected)
  expect(figures(rateEvents(config, sizes.toReversed(), none))).toEqual(expected)
  const { volume: all, total } = rateEvents(config, sizes, none)
  expect([plain(all.quantity), plain(all.count)]).toEqual(['26', '7'])
  expect(plain(total.quantity)).toBe(plain(sum(rateEvents(config, sizes, none).charges.map(each => each.quantity))))
})
