import { expect, test } from 'vitest'
import { currencyList } from './currency-list.ts'
import { COUNTRY_LIST, CURRENCY_LIST } from './iso-codes.ts'

test('every currency of ISO 4217 in which something can be billed is there once, with its number', () => {
  const all = currencyList()
  expect(all.map(({ code }) => code)).toEqual(CURRENCY_LIST.toSorted())
  const others = all.filter(({ code }) => code !== 'ANG')
  expect(new Set(others.map(({ numeric }) => numeric)).size).toBe(others.length)
  expect(all.filter(({ numeric }) => !Number.isInteger(numeric) || numeric < 1 || numeric > 999)).toEqual([])
})

test('every country is known, and has one currency at most', () => {
  const codes = currencyList().flatMap(({ countries }) => countries.map(({ code }) => code))
  expect(new Set(codes).size).toBe(codes.length)
  expect(codes.filter(code => !COUNTRY_LIST.includes(code))).toEqual([])
})

test.each([
  ['EUR', 978, 2, '€', 'Euro'],
  ['JPY', 392, 0, '¥', 'Japanese Yen'],
  ['KWD', 414, 3, 'KWD', 'Kuwaiti Dinar'],
])('%s', (code, numeric, exponent, sign, name) => {
  expect(currencyList().find(each => each.code === code)).toMatchObject({ code, numeric, exponent, sign, name })
})
