// The currencies in which tax is stated, by country and day.
import { expect, test } from 'vitest'
import { localDate } from '../local-days.ts'
import { taxCurrencies, taxCurrency } from './tax-currencies.ts'

test.each<[string, string, string | null]>([
  ['NL', '2026-03-01', 'EUR'],
  ['GR', '2020-01-01', 'EUR'],
  ['HR', '2022-12-31', 'HRK'],
  ['HR', '2023-01-01', 'EUR'],
  ['BG', '2025-12-31', 'BGN'],
  ['BG', '2026-01-01', 'EUR'],
  ['LI', '2026-01-01', 'CHF'],
  ['SE', '2026-01-01', 'SEK'],
  ['US', '2026-01-01', 'USD'],
  ['KP', '2026-01-01', null],
])('the tax of %s on %s is stated in %s', (country, day, expected) => {
  const on = localDate(day)
  expect(on && taxCurrency(country, on)).toBe(expected)
})

test('all currencies of a country, the first one first', () => {
  expect(['HR', 'BG', 'NL', 'GB', 'KP'].map(taxCurrencies)).toEqual([
    ['HRK', 'EUR'],
    ['BGN', 'EUR'],
    ['EUR'],
    ['GBP'],
    [],
  ])
})
