import { describe, expect, test } from 'vitest'
import {
  COMPARATORS,
  CONDITION_DEPTH_MAX,
  CONDITION_TESTS_MAX,
  checkCondition,
  distinctText,
  matches,
  type PropertyComparator,
  type PropertyType,
  type UsageCondition,
} from './condition.ts'

const on = (type: PropertyType, comparator: PropertyComparator, ...values: string[]): UsageCondition => ({
  property: { reference: 'p', type },
  comparator,
  values,
})
const yes: UsageCondition = on('STRING', 'EMPTY')
const no: UsageCondition = on('STRING', 'NOT_EMPTY')
const ABSENT = Symbol('absent')

describe('one property', () => {
  for (const [type, comparator, values, value, expected] of [
    ['STRING', 'EQUALS', ['a'], 'a', true],
    ['STRING', 'EQUALS', ['a'], 'A', false],
    ['STRING', 'EQUALS', ['1'], '1.0', false],
    ['STRING', 'EQUALS', [''], ABSENT, false],
    ['STRING', 'EQUALS', [''], '', true],
    ['STRING', 'NOT_EQUALS', ['a'], ABSENT, true],
    ['NUMBER', 'EQUALS', ['1'], '1.0', true],
    ['NUMBER', 'EQUALS', ['0'], '-0.000', true],
    ['NUMBER', 'EQUALS', ['1'], 'one', false],
    ['NUMBER', 'NOT_EQUALS', ['1'], 'one', true],
    ['NUMBER', 'NOT_EQUALS', ['1'], ABSENT, true],
    ['NUMBER', 'IN', ['007', '8'], '7', true],
    ['NUMBER', 'NOT_IN', ['007', '8'], '7', false],
    ['ENUM', 'IN', [], 'a', false],
    ['ENUM', 'NOT_IN', [], 'a', true],
    ['ENUM', 'IN', ['a', 'b'], 'b', true],
    ['ENUM', 'NOT_IN', ['a', 'b'], ABSENT, true],
    ['NUMBER', 'GREATER_THAN', ['9'], '10', true],
    ['NUMBER', 'GREATER_THAN', ['10'], '10.0', false],
    ['NUMBER', 'GREATER_THAN', ['-1'], ABSENT, false],
    ['NUMBER', 'GREATER_THAN_OR_EQUALS', ['10'], '10.0', true],
    ['NUMBER', 'LESS_THAN', ['10'], '9', true],
    ['NUMBER', 'LESS_THAN', ['1'], ABSENT, false],
    ['NUMBER', 'LESS_THAN', ['1'], '', false],
    ['NUMBER', 'LESS_THAN_OR_EQUALS', ['-0.5'], '-0.500000000001', true],
    ['STRING', 'EMPTY', [], ABSENT, true],
    ['STRING', 'EMPTY', [], '', true],
    ['STRING', 'EMPTY', [], ' ', false],
    ['NUMBER', 'NOT_EMPTY', [], '0', true],
    ['STRING', 'CONTAINS', ['pt-'], 'gpt-4', true],
    ['STRING', 'CONTAINS', ['PT-'], 'gpt-4', false],
    ['STRING', 'CONTAINS', [''], ABSENT, false],
    ['STRING', 'NOT_CONTAINS', ['pt-'], ABSENT, true],
  ] as const) {
    test(`${type} ${String(value)} ${comparator} ${JSON.stringify(values)}: ${expected}`, () => {
      const properties = value === ABSENT ? {} : { p: value }
      expect(matches(on(type, comparator, ...values), properties)).toBe(expected)
    })
  }

  test('a property is never mistaken for what every object has', () => {
    const inherited: UsageCondition = {
      property: { reference: 'constructor', type: 'STRING' },
      comparator: 'NOT_EMPTY',
      values: [],
    }
    expect(matches(inherited, {})).toBe(false)
    expect(matches(inherited, { constructor: 'x' })).toBe(true)
  })
})

describe('trees', () => {
  for (const [operator, operands, expected] of [
    ['AND', [], true],
    ['AND', [yes, no], false],
    ['AND', [yes, yes], true],
    ['OR', [], false],
    ['OR', [no, yes], true],
    ['XOR', [], false],
    ['XOR', [yes], true],
    ['XOR', [yes, yes], false],
    ['XOR', [yes, yes, yes], true],
    ['NOT', [no], true],
  ] as const) {
    test(`${operator} of ${operands.map(each => each === yes)} is ${expected}`, () => {
      expect(matches({ operator, operands }, {})).toBe(expected)
    })
  }

  test('are bounded in depth and breadth', () => {
    let deep = yes
    for (let depth = 1; depth < CONDITION_DEPTH_MAX; depth += 1) deep = { operator: 'NOT', operands: [deep] }
    expect(matches(deep, {})).toBe(false)
    expect(() => checkCondition({ operator: 'NOT', operands: [deep] })).toThrow(RangeError)
    const broad = Array.from({ length: CONDITION_TESTS_MAX }, () => yes)
    checkCondition({ operator: 'AND', operands: broad })
    expect(() => checkCondition({ operator: 'AND', operands: [...broad, yes] })).toThrow(RangeError)
  })
})

test('a comparator takes its own number of values and its own types, and nothing else', () => {
  for (const [comparator, rule] of Object.entries(COMPARATORS) as [PropertyComparator, (typeof COMPARATORS)['IN']][]) {
    for (const type of ['NUMBER', 'ENUM', 'STRING'] as const) {
      for (const count of [0, 1, 2]) {
        const allowed =
          rule.types.includes(type) && (rule.values === 'ANY' || count === (rule.values === 'ONE' ? 1 : 0))
        const check = () => checkCondition(on(type, comparator, ...Array.from({ length: count }, () => '1')))
        if (allowed) expect(check).not.toThrow()
        else expect(check).toThrow(RangeError)
      }
    }
  }
  expect(() => checkCondition(on('NUMBER', 'EQUALS', '1e3'))).toThrow(RangeError)
})

test('values are told apart as numbers only where the property is one', () => {
  expect(['1.0', '01', '-0', 'x', ''].map(value => distinctText('NUMBER', value))).toEqual(['1', '1', '0', 'x', ''])
  expect(distinctText('STRING', '1.0')).toBe('1.0')
})
