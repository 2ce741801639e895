// Usage in other forms than one volume: events one by one, money of several currencies, chosen amounts.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, ONE, plain, sum, ZERO } from '../../decimal.ts'
import { describeCharge } from '../describe.ts'
import { flexibleFault } from '../flexible-amount.ts'
import { amountVolume, numberVolume } from '../price.ts'
import { type PriceConfig, rate } from '../rate.ts'
import { type EqualEvents, oneEvent, rateEvents } from '../rate-events.ts'
import { price, priceOf } from '../testing/prices.ts'

const payment = (quantity: string) => amountVolume(decimal(quantity), 'EUR', ONE)

/** What the events cost together, and what of it each band and limit made: `0.25 of 1 MINIMUM_AMOUNT`. */
function eachOf(config: PriceConfig, events: readonly EqualEvents[]) {
  const none = config.bands[0]?.percentage ? amountVolume(ZERO, 'EUR', ZERO) : numberVolume(ZERO)
  const { total, charges, volume } = rateEvents(config, events, none)
  return {
    total: plain(total.quantity),
    of: `${plain(volume.quantity)}/${plain(volume.count)}`,
    charges: charges.map(({ bandIndex, quantity, events: count, priceBound }) =>
      `${bandIndex}: ${plain(quantity)} of ${plain(count)} ${priceBound ?? ''}`.trim(),
    ),
    texts: charges.map(charge => describeCharge(charge, 'EUR')),
  }
}
const payments = (...cents: readonly number[]): EqualEvents[] =>
  cents.map(each => ({ each: payment(plain(decimal(`${each}e-2`))), times: ONE }))

describe('a price of each event', () => {
  const config = priceOf('FLAT', [{ percentage: '1.4', minimumAmount: '0.25', maximumAmount: '5' }], {
    metric: 'AMOUNT',
  })

  test('1.4 %, at least 0.25 and at most 5.00 a payment', () => {
    expect(eachOf(config, payments(1_000, 10_000, 100_000, 200_000))).toEqual({
      total: '11.65',
      of: '3110/4',
      charges: ['0: 1.4 of 1', '0: 10 of 2 MAXIMUM_AMOUNT', '0: 0.25 of 1 MINIMUM_AMOUNT'],
      texts: [
        '1.4 % of 100 EUR',
        '1.4 % of 3000 EUR → 2 × maximum amount 5 EUR',
        '1.4 % of 10 EUR → 1 × minimum amount 0.25 EUR',
      ],
    })
  })

  test('numbers are held too', () => {
    const seats = price('FLAT', { amount: '2', minimumNumber: '3', maximumNumber: '10' })
    const events = ['1', '5', '50'].map(text => ({ each: numberVolume(decimal(text)), times: ONE }))
    expect(eachOf(seats, events).charges).toEqual([
      '0: 10 of 1',
      '0: 20 of 1 MAXIMUM_NUMBER',
      '0: 6 of 1 MINIMUM_NUMBER',
    ])
  })

  test('without events nothing is charged, not even a minimum', () => {
    expect(eachOf(config, [])).toEqual({ total: '0', of: '0/0', charges: [], texts: [] })
  })

  const forms = () => [
    config,
    priceOf('TIERED', [{ percentage: '2', topBound: '100', fixedAmount: '0.3' }, { percentage: '1' }], {
      metric: 'AMOUNT',
    }),
    priceOf('PASS_THROUGH', [{ percentage: '3', maximumAmount: '80' }], { metric: 'AMOUNT' }),
    priceOf('FLAT_TOP_UP', [{ amount: '0.5', blockSize: '60', maximumAmount: '2' }]),
    priceOf('STAIR_STEP_TOP_UP', [
      { fixedAmount: '1', topBound: '50' },
      { fixedAmount: '2', blockSize: '20' },
    ]),
  ]

  test('it is the sum of the prices of single events, however they are grouped and ordered', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...forms()),
        fc.array(fc.record({ value: fc.integer({ min: -50, max: 500 }), times: fc.integer({ min: 1, max: 4 }) })),
        (each, given) => {
          const isMoney = each.bands[0]?.percentage !== null
          const none = isMoney ? amountVolume(ZERO, 'EUR', ZERO) : numberVolume(ZERO)
          const of = (value: number) => oneEvent(none, decimal(String(value)))
          const grouped = given.map(({ value, times }) => ({ each: of(value), times: decimal(String(times)) }))
          const single = given.flatMap(({ value, times }) => Array.from({ length: times }, () => of(value)))
          const expected = sum(single.map(volume => rate(each, volume).total.quantity))
          const rated = rateEvents(each, grouped, none)
          expect(plain(rated.total.quantity)).toBe(plain(expected))
          expect(plain(rateEvents(each, grouped.toReversed(), none).total.quantity)).toBe(plain(expected))
          for (const { pieces, quantity } of rated.charges) {
            expect(plain(sum(pieces.map(piece => piece.quantity)))).toBe(plain(quantity))
          }
        },
      ),
    )
  })
})

test.each([
  ['5', null],
  ['100', null],
  ['4.99', 'The amount must be at least 5 EUR.'],
  ['100.01', 'The amount must be at most 100 EUR.'],
  ['0', 'The amount must be greater than 0.'],
  ['-5', 'The amount must be greater than 0.'],
])('FLEXIBLE from 5 to 100: choosing %s gives %s', (chosen, fault) => {
  const config = price('FLEXIBLE', { minimumAmount: '5', maximumAmount: '100' })
  expect(flexibleFault(config, decimal(chosen))).toBe(fault)
})

test('FLEXIBLE with one limit has no other', () => {
  const [least, most] = [price('FLEXIBLE', { minimumAmount: '5' }), price('FLEXIBLE', { maximumAmount: '100' })]
  expect([least, most].map(of => flexibleFault(of, decimal('1000')))).toEqual([
    null,
    'The amount must be at most 100 EUR.',
  ])
  expect([least, most].map(of => flexibleFault(of, decimal('1')))).toEqual(['The amount must be at least 5 EUR.', null])
})
