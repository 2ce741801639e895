import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { currencyExponent } from '../money.ts'
import { COUNTRY_LIST, CURRENCY_LIST, currencyDecimals, isCountry, isCurrency } from './iso-codes.ts'

describe('currencies of ISO 4217', () => {
  test.each([
    ['EUR', 2],
    ['JPY', 0],
    ['KWD', 3],
    ['CLF', 4],
    ['XCG', 2],
    ['XAF', 0],
  ])('%s has %i decimal places', (code, decimals) => {
    expect(currencyDecimals(code)).toBe(decimals)
    expect(currencyExponent(code)).toBe(decimals)
  })

  test.each(['XXZ', 'ZZZ', 'XXX', 'XTS', 'XAU', 'eur', 'EURO', 'EU', '', ' EUR'])('%j is none', code => {
    expect(isCurrency(code)).toBe(false)
    expect(() => currencyExponent(code)).toThrow(RangeError)
  })
})

describe('countries of ISO 3166-1', () => {
  test.each(['NL', 'GB', 'US', 'TW', 'SS'])('%s is one', code => {
    expect(isCountry(code)).toBe(true)
  })
  test.each(['XX', 'UK', 'EU', 'nl', 'NLD', 'ZZ', 'AN', ''])('%j is none', code => {
    expect(isCountry(code)).toBe(false)
  })
})

test('docs/codes.md lists every code that fields accept, and no other', () => {
  const [, currencies = '', countries = ''] = readFileSync('docs/codes.md', 'utf8').split(/^## /m)
  const codesIn = (text: string, form: RegExp): string[] =>
    text
      .split('\n')
      .filter(line => /^[A-Z]{2,3}( [A-Z]{2,3})*$/.test(line))
      .flatMap(line => line.match(form) ?? [])
      .toSorted()
  expect(codesIn(currencies, /\b[A-Z]{3}\b/g)).toEqual(CURRENCY_LIST.toSorted())
  expect(codesIn(countries, /\b[A-Z]{2}\b/g)).toEqual(COUNTRY_LIST.toSorted())
})
