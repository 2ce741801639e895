// What an address of reference rates may give, and what its platform hears of anything else.
import { describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { statusOf } from './fetch-rates.ts'
import { parseFeed } from './parse-feed.ts'

const NOW = instantOf(Date.parse('2026-04-01T12:00:00Z'))
const feed = (more: object = {}) => JSON.stringify({ base: 'EUR', date: '2026-03-31', rates: { USD: 1.0832 }, ...more })

test.each<[string, string, readonly string[]]>([
  ['numbers and texts', feed({ rates: { USD: 1.0832, GBP: '0.83410' } }), ['USD 1.0832', 'GBP 0.8341']],
  [
    'more digits than a number has, as text',
    feed({ rates: { IDR: '17891.123456789012' } }),
    ['IDR 17891.123456789012'],
  ],
  [
    'more decimals than a rate has, rounded',
    feed({ rates: { USD: 1.0832123456785, GBP: '0.8341123456785' } }),
    ['USD 1.083212345679', 'GBP 0.834112345679'],
  ],
  ['exponents', feed({ rates: { USD: 1.2e-8, GBP: '1.5E+3' } }), ['USD 0.000000012', 'GBP 1500']],
  ['neither the base nor unknown currencies', feed({ rates: { EUR: 1, BTC: 2, USD: 1 } }), ['USD 1']],
  ['members besides', feed({ amount: 1, success: true }), ['USD 1.0832']],
])('takes %s', (_name, text, expected) => {
  const { base_currency, rate_timestamp, rates } = parseFeed(text, NOW)
  expect([base_currency, rate_timestamp]).toEqual(['EUR', '2026-03-31T00:00:00Z'])
  expect(rates.map(({ currency, rate }) => `${currency} ${rate}`)).toEqual(expected)
})

test('takes a time with its zone, under the names of the API', () => {
  const text = JSON.stringify({
    base_currency: 'USD',
    rate_timestamp: '2026-03-31T16:00:00+02:00',
    rates: { EUR: 0.9 },
  })
  expect(parseFeed(text, NOW)).toEqual({
    base_currency: 'USD',
    rate_timestamp: '2026-03-31T14:00:00Z',
    rates: [{ currency: 'EUR', rate: '0.9' }],
  })
})

test.each<[string, string, string]>([
  ['no JSON', '<Cube/>', 'The answer is not JSON.'],
  ['a list', '[]', 'The answer must be an object.'],
  ['no base', feed({ base: undefined }), '`base` must be a currency of ISO 4217.'],
  ['an unknown base', feed({ base: 'XYZ' }), '`base` must be a currency of ISO 4217.'],
  ['no date', feed({ date: null }), '`date` must be a day'],
  ['a day that does not exist', feed({ date: '2026-02-30' }), '`date` must be a day'],
  ['a day far ahead', feed({ date: '2026-04-10' }), '`date` is more than seven days ahead.'],
  ['no rates', feed({ rates: undefined }), '`rates` must be an object.'],
  ['rates of itself alone', feed({ rates: { EUR: 1 } }), '`rates` has no rate of another currency.'],
  ['a rate of zero', feed({ rates: { USD: 0 } }), 'The rate of USD must be above zero.'],
  ['a rate that rounds to zero', feed({ rates: { USD: 4e-13 } }), 'The rate of USD must be above zero.'],
  ['a rate of 27 digits', feed({ rates: { USD: 1e26 } }), 'The rate of USD must be a decimal number.'],
  ['an exponent without a number', feed({ rates: { USD: 'e5' } }), 'The rate of USD must be a decimal number.'],
  ['a rate in another base', feed({ rates: { USD: '0x10' } }), 'The rate of USD must be a decimal number.'],
  ['a rate below zero', feed({ rates: { USD: -1 } }), 'The rate of USD must be'],
  ['a rate that is no number', feed({ rates: { USD: 'one' } }), 'The rate of USD must be a decimal number.'],
  ['a rate of null', feed({ rates: { USD: null } }), 'The rate of USD must be a decimal number.'],
  [
    'too many',
    feed({ rates: Object.fromEntries(Array.from({ length: 401 }, (_each, index) => [`C${index}`, 1])) }),
    '`rates` has more than 400 members.',
  ],
])('refuses %s', (_name, text, message) => {
  expect(() => parseFeed(text, NOW)).toThrow(message)
})

describe('the status of a platform', () => {
  const of = (rate_timestamp: string) => ({ base_currency: 'EUR', rate_timestamp, rates: [] })
  const before = { attempted_at: '', next_attempt_at: '', rates_of: '2026-03-31T00:00:00Z', fault: null }

  test('says when it is tried next: sooner after a fault', () => {
    expect(statusOf(of('2026-03-31T00:00:00Z'), null, NOW)).toEqual({
      attempted_at: '2026-04-01T12:00:00Z',
      next_attempt_at: '2026-04-01T18:00:00Z',
      rates_of: '2026-03-31T00:00:00Z',
      fault: null,
    })
    expect(statusOf('The server answered 500.', before, NOW)).toEqual({
      attempted_at: '2026-04-01T12:00:00Z',
      next_attempt_at: '2026-04-01T13:00:00Z',
      rates_of: '2026-03-31T00:00:00Z',
      fault: 'The server answered 500.',
    })
  })

  test('says which rates were not stored, and tries again as after a fault', () => {
    const found = of('2026-03-31T00:00:00Z')
    const refused = new Map([
      ['EUR', 'A rate can be corrected 100 times.'],
      ['USD', 'Something else.'],
    ])
    expect(statusOf(found, before, NOW, refused)).toMatchObject({
      next_attempt_at: '2026-04-01T13:00:00Z',
      rates_of: '2026-03-31T00:00:00Z',
      fault: 'Not stored: EUR, USD. The rate of EUR: A rate can be corrected 100 times.',
    })
    expect(statusOf(of('2026-03-25T11:00:00Z'), null, NOW, refused).fault).toMatch(/^Not stored: .*seven days ago\.$/)
    expect(statusOf(found, before, NOW, new Map()).fault).toBeNull()
  })

  test('says that rates are old, whether the address answers or not', () => {
    const old = 'The newest rates are of 2026-03-25T11:00:00Z, more than seven days ago.'
    expect(statusOf(of('2026-03-25T11:00:00Z'), null, NOW).fault).toBe(old)
    expect(statusOf(of('2026-03-25T13:00:00Z'), null, NOW).fault).toBeNull()
    const was = { ...before, rates_of: '2026-03-25T11:00:00Z' }
    expect(statusOf('The server answered 500.', was, NOW).fault).toBe(`The server answered 500. ${old}`)
  })
})
