import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../shared/decimal.ts'
import { canonicalValue } from './canonical-value.ts'
import type { CustomFieldType } from './schema.ts'

const field = (type: CustomFieldType, enum_values: string[] | null = null) => ({ type, enum_values })
const storedAs = (type: CustomFieldType, text: string, values: string[] | null = null): string | null => {
  const reading = canonicalValue(field(type, values), text)
  return reading.kind === 'value' ? reading.value : null
}

describe('a value of a custom field', () => {
  test.each<[CustomFieldType, string, string | null]>([
    ['STRING', 'North', 'North'],
    ['STRING', ' North ', ' North '],
    ['STRING', '', null],
    ['STRING', '  ', null],
    ['STRING', 'two\nlines', null],
    ['NUMBER', '1', '1'],
    ['NUMBER', '1.50', '1.5'],
    ['NUMBER', '007', '7'],
    ['NUMBER', '-0.0', '0'],
    ['NUMBER', '1e3', null],
    ['NUMBER', '0x10', null],
    ['NUMBER', '1,5', null],
    ['NUMBER', 'NaN', null],
    ['NUMBER', '', null],
    ['BOOLEAN', 'true', 'true'],
    ['BOOLEAN', 'false', 'false'],
    ['BOOLEAN', 'TRUE', null],
    ['BOOLEAN', '1', null],
  ])('%s %j is stored as %j', (type, text, expected) => {
    expect(storedAs(type, text)).toBe(expected)
  })

  test('of an ENUM is one of its values, as it is written', () => {
    expect(storedAs('ENUM', 'north', ['north', 'south'])).toBe('north')
    expect(storedAs('ENUM', 'North', ['north', 'south'])).toBeNull()
    expect(storedAs('ENUM', 'north')).toBeNull()
  })

  test('has one form: reading it again gives it back, whatever the type', () => {
    const texts = fc.oneof(fc.string(), fc.constantFrom('true', 'false', 'a', 'b'), numberText)
    const types = fc.constantFrom<CustomFieldType>('STRING', 'NUMBER', 'BOOLEAN', 'ENUM')
    fc.assert(
      fc.property(types, texts, (type, text) => {
        const value = storedAs(type, text, ['a', 'b'])
        if (value !== null) expect(storedAs(type, value, ['a', 'b'])).toBe(value)
      }),
    )
  })

  test('of a NUMBER is the same as another one exactly when both are one number', () => {
    fc.assert(
      fc.property(numberText, numberText, (a, b) => {
        expect(storedAs('NUMBER', a) === storedAs('NUMBER', b)).toBe(decimal(a).eq(decimal(b)))
      }),
    )
  })

  test('that is refused says what is allowed, and does not list a thousand values', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `value-${index}`)
    const reading = canonicalValue(field('ENUM', many), 'other')
    expect(reading.kind === 'fault' && reading.message).toMatch(/"other" .* value-0, .* and 980 more/)
  })
})

const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
const numberText = fc
  .tuple(fc.boolean(), digits(6), fc.option(digits(3)), fc.nat(3))
  .map(([negative, whole, fraction, zeros]) => {
    const places = fraction === null ? '' : `.${fraction}${'0'.repeat(zeros)}`
    return `${negative ? '-' : ''}${whole}${places}`
  })
