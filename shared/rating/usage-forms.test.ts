// Usage in other forms than one volume: events one by one, money of several currencies, chosen amounts.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain } from '../decimal.ts'
import { parseInstant } from '../time.ts'
import { convertAll, type DatedRate, type MoneyAt } from './dated-rates.ts'
import { flexibleFault } from './flexible-amount.ts'
import { amountVolume, numberVolume } from './price.ts'
import { rateEvents } from './rate-events.ts'
import { price, priceOf } from './testing/prices.ts'

const ONE = decimal('1')
const payment = (quantity: string) => amountVolume(decimal(quantity), 'EUR', ONE)
const at = (text: string) => {
  const instant = parseInstant(`${text}Z`)
  if (instant === null) throw new Error(text)
  return instant
}

describe('limits that apply to each event', () => {
  const config = priceOf('FLAT', [{ percentage: '1.4', minimumAmount: '0.25', maximumAmount: '5' }], {
    metric: 'AMOUNT',
  })

  test('1.4 %, at least 0.25 and at most 5.00 a payment', () => {
    const { events, total } = rateEvents(config, [payment('10'), payment('100'), payment('1000')])
    expect(events.map(({ quantity, priceBound }) => `${plain(quantity)} ${priceBound}`)).toEqual([
      '0.25 MINIMUM_AMOUNT',
      '1.4 null',
      '5 MAXIMUM_AMOUNT',
    ])
    expect(plain(total)).toBe('6.65')
  })

  test('numbers are held too', () => {
    const seats = price('FLAT', { amount: '2', minimumNumber: '3', maximumNumber: '10' })
    const { events } = rateEvents(
      seats,
      ['1', '5', '50'].map(text => numberVolume(decimal(text))),
    )
    expect(events.map(({ quantity, priceBound }) => `${plain(quantity)} ${priceBound}`)).toEqual([
      '6 MINIMUM_NUMBER',
      '10 null',
      '20 MAXIMUM_NUMBER',
    ])
  })

  test('the order of events never matters', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 50_000 }), { maxLength: 12 }), amounts => {
        const volumes = amounts.map(cents => payment(plain(decimal(`${cents}e-2`))))
        expect(plain(rateEvents(config, volumes.toReversed()).total)).toBe(plain(rateEvents(config, volumes).total))
      }),
    )
  })
})

describe('money of several currencies', () => {
  const dated = (base: string, rate: string, from: string): DatedRate => ({
    base,
    currency: 'EUR',
    rate: decimal(rate),
    at: at(from),
    source: 'test',
  })
  const rates = [
    dated('USD', '0.92', '2026-03-02T00:00:00'),
    dated('USD', '0.90', '2026-03-01T00:00:00'),
    dated('GBP', '1.15', '2026-03-01T00:00:00'),
  ]
  const money = (quantity: string, currency: string, time: string): MoneyAt => ({
    quantity: decimal(quantity),
    currency,
    at: at(time),
  })
  const total = (values: readonly MoneyAt[]): string => {
    const found = convertAll(values, 'EUR', rates)
    return found.kind === 'ok' ? plain(found.converted.total) : `no rate of ${found.base}`
  }

  test.each<[string, MoneyAt[], string]>([
    ['nothing', [], '0'],
    ['its own currency needs no rate', [money('5', 'EUR', '2020-01-01T00:00:00')], '5'],
    [
      'each event by the rate of its time',
      [money('100', 'USD', '2026-03-01T23:59:59'), money('100', 'USD', '2026-03-02T00:00:00')],
      '182',
    ],
    [
      'several currencies',
      [money('10', 'EUR', '2026-03-05T00:00:00'), money('10', 'GBP', '2026-03-05T00:00:00')],
      '21.5',
    ],
    ['before the first rate', [money('1', 'USD', '2026-02-28T23:59:59')], 'no rate of USD'],
    ['a currency without rates', [money('1', 'CHF', '2026-03-05T00:00:00')], 'no rate of CHF'],
  ])('%s', (_name, values, expected) => {
    expect(total(values)).toBe(expected)
    expect(total(values.toReversed())).toBe(expected)
  })

  test('what was used is named by currency, with its rates', () => {
    const found = convertAll(
      [money('100', 'USD', '2026-03-05T00:00:00'), money('1', 'EUR', '2026-03-05T00:00:00')],
      'EUR',
      rates,
    )
    if (found.kind === 'missing') throw new Error('there is a rate')
    const { parts, used } = found.converted
    const shown = (value: Decimal): string => plain(value)
    expect(parts.map(part => [part.currency, shown(part.quantity), shown(part.converted)])).toEqual([
      ['USD', '100', '92'],
      ['EUR', '1', '1'],
    ])
    expect(used.map(rate => [rate.base, shown(rate.rate)])).toEqual([['USD', '0.92']])
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
