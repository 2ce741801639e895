import { describe, expect, test } from 'vitest'
import { currencyDecimals, isCountry, isCurrency } from './iso-codes.ts'
import { currencyExponent } from './money.ts'

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
