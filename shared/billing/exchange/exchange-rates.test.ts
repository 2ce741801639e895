import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { at } from '../../time.ts'
import { timesFraction } from '../fraction.ts'
import { type ExchangeRate, exchangeBefore } from './exchange-rates.ts'

const rate = (pair: string, value: string, day: string): ExchangeRate => {
  const [base_currency = '', currency = ''] = pair.split('/')
  return { base_currency, currency, rate: value, rate_timestamp: `${day}T00:00:00Z`, source: 'ECB' }
}
const RATES = [
  rate('EUR/USD', '1.0832', '2026-03-30'),
  rate('EUR/USD', '1.09', '2026-04-01'),
  rate('EUR/GBP', '0.8', '2026-03-30'),
]
const convert = (quantity: string, [from, to]: [string, string], until: string, rates = RATES) => {
  const found = exchangeBefore(rates, { from, to, until: at(until) })
  return found && plain(timesFraction(decimal(quantity), found.factor))
}

test.each<[string, string, [string, string], string, string | null]>([
  ['the worked example of semantics 5.6', '100', ['EUR', 'USD'], '2026-04-01T00:00:00Z', '108.32'],
  ['the latest before, not at the end of the day', '100', ['EUR', 'USD'], '2026-04-01T00:00:01Z', '109'],
  ['the other way', '108.32', ['USD', 'EUR'], '2026-04-01T00:00:00Z', '100'],
  ['across a common base', '108.32', ['USD', 'GBP'], '2026-04-01T00:00:00Z', '80'],
  ['before the first rate', '100', ['EUR', 'USD'], '2026-03-30T00:00:00Z', null],
  ['a currency without rates', '100', ['EUR', 'JPY'], '2026-05-01T00:00:00Z', null],
])('%s', (_, quantity, pair, until, expected) => {
  expect(convert(quantity, pair, until)).toBe(expected)
})

describe('a rate that is given both ways', () => {
  test('is that of the later time', () => {
    const both = [rate('EUR/USD', '2', '2026-03-01'), rate('USD/EUR', '0.25', '2026-03-02')]
    expect(convert('1', ['EUR', 'USD'], '2026-03-03T00:00:00Z', both)).toBe('4')
    expect(convert('1', ['EUR', 'USD'], '2026-03-02T00:00:00Z', both)).toBe('2')
  })
})

test('there and back is the same amount to the 30th place', () => {
  const positive = fc
    .integer({ min: 1, max: 10_000_000 })
    .map(value => plain(decimal(String(value)).div(decimal('10000'))))
  fc.assert(
    fc.property(positive, positive, (quantity, value) => {
      const rates = [rate('EUR/USD', value, '2026-03-01')]
      const there = convert(quantity, ['EUR', 'USD'], '2026-04-01T00:00:00Z', rates) ?? ''
      const back = decimal(convert(there, ['USD', 'EUR'], '2026-04-01T00:00:00Z', rates) ?? '')
      expect(back.minus(decimal(quantity)).abs().lt(decimal('1e-30'))).toBe(true)
    }),
  )
})

test('the order in which rates are read decides nothing', () => {
  for (const rates of [RATES, RATES.toReversed()]) {
    expect(convert('100', ['EUR', 'USD'], '2026-04-02T00:00:00Z', rates)).toBe('109')
    expect(convert('109', ['USD', 'GBP'], '2026-04-02T00:00:00Z', rates)).toBe('80')
  }
})

test('of rates that are given both ways at one time the direct one holds', () => {
  const both = [rate('USD/EUR', '0.25', '2026-03-01'), rate('EUR/USD', '2', '2026-03-01')]
  expect(convert('1', ['EUR', 'USD'], '2026-03-03T00:00:00Z', both)).toBe('2')
  expect(convert('1', ['USD', 'EUR'], '2026-03-03T00:00:00Z', both)).toBe('0.25')
})

test('of several common bases the first by its code is taken', () => {
  const [ofDollar, ofEuro] = [
    [rate('USD/GBP', '0.5', '2026-03-01'), rate('USD/CHF', '1', '2026-03-01')],
    [rate('EUR/GBP', '0.8', '2026-03-01'), rate('EUR/CHF', '1', '2026-03-01')],
  ]
  for (const rates of [
    [...ofDollar, ...ofEuro],
    [...ofEuro, ...ofDollar],
  ])
    expect(convert('100', ['CHF', 'GBP'], '2026-03-03T00:00:00Z', rates)).toBe('80')
})
