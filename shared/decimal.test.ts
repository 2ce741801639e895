import Big from 'big.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, decimalOfInteger, fixed, isPlainDecimal, plain, quotient, roundHalfUp, sum, ZERO } from './decimal.ts'

describe('plain decimals', () => {
  for (const text of ['0', '-0', '1', '-1', '0.1', '007', '12345678901234567890123456', '0.123456789012']) {
    test(`${text} is taken`, () => expect(isPlainDecimal(text)).toBe(true))
  }
  for (const text of [
    '',
    ' 1',
    '1 ',
    '1e5',
    '1E400',
    'NaN',
    'Infinity',
    '0x10',
    '1,5',
    '.5',
    '5.',
    '+1',
    '--1',
    '١٢',
    '1_000',
    '123456789012345678901234567',
    '0.1234567890123',
    '9'.repeat(10_000),
  ]) {
    test(`${text.slice(0, 30)} is refused`, () => expect(isPlainDecimal(text)).toBe(false))
  }
})

test('minus zero is zero', () => expect(plain(decimal('-0'))).toBe('0'))
test('a JS number never becomes an operand', () => expect(() => decimal('1').plus(0.1 as never)).toThrow())
test('only safe integers become decimals', () => expect(() => decimalOfInteger(0.5)).toThrow(RangeError))
test('tenths add up exactly', () => expect(plain(sum(Array.from({ length: 10 }, () => decimal('0.1'))))).toBe('1'))

test.each([
  ['0.005', 2, '0.01'],
  ['-0.005', 2, '-0.01'],
  ['2.675', 2, '2.68'],
  ['-0.004', 2, '0'],
  ['1.5', 0, '2'],
])('%s rounded half up to %i places is %s', (value, places, expected) =>
  expect(plain(roundHalfUp(decimal(value), places))).toBe(expected),
)

test('plain text of a decimal reads back as the same decimal', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.nat(12), (digits, places) => {
      const value = decimal(digits.toString()).div(decimal('10').pow(places))
      expect(decimal(plain(value)).eq(value)).toBe(true)
      expect(plain(value)).not.toMatch(/e/i)
    }),
  )
  expect(plain(ZERO)).toBe('0')
})

test('decimals compare as the library compares them', () => {
  const number = fc.tuple(fc.bigInt({ min: -2_000n, max: 2_000n }), fc.integer({ min: -4, max: 4 }))
  const long = fc.tuple(fc.bigInt(), fc.integer({ min: -30, max: 30 }))
  const text = fc.oneof(number, long).map(([digits, power]) => `${digits}e${power}`)
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = new Big(a).cmp(new Big(b))
      expect(decimal(a).cmp(decimal(b))).toBe(expected)
      expect(decimal(a).cmp(b)).toBe(expected)
      expect(decimal(a).lt(decimal(b))).toBe(expected < 0)
      expect(decimal(a).eq(decimal(b))).toBe(expected === 0)
    }),
  )
  expect(decimal('-0').cmp(decimal('0'))).toBe(0)
  expect(() => decimal('1').cmp(1 as never)).toThrow()
})

test('a quotient is the division, rounded', () => {
  const number = fc
    .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(12))
    .map(([digits, places]) => decimal(digits.toString()).div(decimal('10').pow(places)))
  fc.assert(
    fc.property(number, number, fc.nat(12), (value, by, places) => {
      fc.pre(!by.eq(ZERO))
      expect(plain(quotient(value, by, places))).toBe(plain(roundHalfUp(value.div(by), places)))
    }),
  )
  expect(plain(quotient(decimal('-1'), decimal('8'), 2))).toBe('-0.13')
  expect(plain(quotient(decimal('-1'), decimal('800'), 2))).toBe('0')
  expect(() => quotient(decimal('1'), ZERO, 2)).toThrow(RangeError)
})

test.each([
  ['0', 2, '0.00'],
  ['-0', 2, '0.00'],
  ['10', 0, '10'],
  ['1e3', 2, '1000.00'],
  ['-0.5', 3, '-0.500'],
  ['0.001', 2, '0.00'],
  ['-0.001', 2, '0.00'],
  ['0.125', 2, '0.13'],
  ['12.30', 2, '12.30'],
])('%s with %d decimals is %s', (value, places, expected) => {
  expect(fixed(decimal(value), places)).toBe(expected)
})

test('a value that is rounded already is the same when it is rounded again, and is written as the library writes it', () => {
  const value = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 8 }))
  fc.assert(
    fc.property(value, fc.integer({ min: 0, max: 8 }), ([digits, shift], places) => {
      const rounded = roundHalfUp(decimal(`${digits}e-${shift}`), places)
      if (!roundHalfUp(rounded, places).eq(rounded) || fixed(rounded, places) !== rounded.toFixed(places))
        throw new Error(`${digits}e-${shift} to ${places}`)
    }),
  )
})
