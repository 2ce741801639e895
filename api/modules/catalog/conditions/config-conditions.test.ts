import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matches } from '../../../../shared/usage/condition.ts'
import { type ConditionNames, configConditions, usageConditionOf } from './config-conditions.ts'
import type { Conditions, Expression, PropertyCondition } from './schema.ts'

const NAMES: ConditionNames = {
  properties: new Map([
    ['p1', { reference: 'model', type: 'STRING' }],
    ['p2', { reference: 'size', type: 'NUMBER' }],
  ]),
  variables: new Map([['v1', ['a', 'b']]]),
}
const is = (id: string, value: string, comparator: PropertyCondition['comparator'] = 'EQUALS'): PropertyCondition => ({
  id,
  reference: 'the reference it had when it was saved',
  comparator,
  value,
  values: null,
  meter_property_variable_id: null,
})
const among = (...values: string[]): PropertyCondition => ({ ...is('p1', '', 'IN'), value: null, values })
const inVariable: PropertyCondition = { ...is('p1', '', 'IN'), value: null, meter_property_variable_id: 'v1' }
const all = (...meter_properties: PropertyCondition[]): Conditions => ({ name: null, meter_properties })
const config = (id: string, order: number, conditions: Conditions | null) => ({ id, order, conditions })

/** The configs that rate an event. */
const rating = (item: Conditions | null, configs: ReturnType<typeof config>[], properties: Record<string, string>) =>
  [...configConditions(item, configs, NAMES)]
    .filter(([, condition]) => condition === null || matches(condition, properties))
    .map(([id]) => id)

describe('which config rates an event', () => {
  const configs = [
    config('default', 0, null),
    config('big', 2, all(is('p2', '100', 'GREATER_THAN'))),
    config('listed', 1, all(inVariable)),
    config('both', 3, all(is('p1', 'c'), is('p2', '5'))),
  ]
  test.each([
    ['the first whose conditions hold, by order', { model: 'a', size: '500' }, ['listed']],
    ['a later one where no earlier one holds', { model: 'z', size: '500' }, ['big']],
    ['one whose conditions all hold', { model: 'c', size: '5.0' }, ['both']],
    ['the default where no other does, wherever it stands', { model: 'c', size: '6' }, ['default']],
  ])('%s', (_name, properties, expected) => expect(rating(null, configs, properties)).toEqual(expected))
  test('none where the conditions of the item do not hold', () => {
    const item = all(is('p2', '10', 'LESS_THAN'))
    expect(rating(item, configs, { model: 'a', size: '500' })).toEqual([])
    expect(rating(item, configs, { model: 'a', size: '5' })).toEqual(['listed'])
  })
  test('none without a default where no conditions hold', () =>
    expect(rating(null, configs.slice(1), { model: 'z', size: '1' })).toEqual([]))
  test('all usage where there is one config and nothing is asked', () =>
    expect([...configConditions(null, [config('only', 0, null)], NAMES)]).toEqual([['only', null]]))
})

describe('an expression', () => {
  const tree = (operator: Expression['operator'], ...operands: (PropertyCondition | Expression)[]): Expression => ({
    operator,
    operands: operands.map(each => ('operator' in each ? { expression: each } : { meter_property: each })),
  })
  const holds = (expression: Expression, properties: Record<string, string>) =>
    matches(usageConditionOf({ name: null, meter_properties: [], expression }, NAMES), properties)
  const small = is('p2', '10', 'LESS_THAN')
  test.each<[string, Expression, boolean]>([
    ['AND', tree('AND', among('a'), small), true],
    ['AND of which one fails', tree('AND', among('b'), small), false],
    ['OR', tree('OR', among('b'), small), true],
    ['XOR of two that hold', tree('XOR', among('a'), small), false],
    ['XOR of which one holds', tree('XOR', among('b'), small), true],
    ['nested', tree('AND', tree('OR', among('b'), inVariable), tree('XOR', small)), true],
  ])('%s', (_name, expression, expected) => expect(holds(expression, { model: 'a', size: '5' })).toBe(expected))
})

describe('whatever the conditions are', () => {
  const property = fc.oneof(
    fc.constantFrom(among('a', 'b'), among('c'), inVariable, is('p1', 'b'), is('p1', 'a', 'NOT_EQUALS')),
    fc.integer({ min: 0, max: 6 }).map(size => is('p2', String(size), 'GREATER_THAN')),
  )
  const conditions = fc.array(property, { minLength: 1, maxLength: 3 }).map(list => all(...list))
  const configs = fc
    .array(conditions, { maxLength: 5 })
    .map(list => list.map((each, index) => config(`c${index}`, list.length - index, each)))
  const properties = fc.record({
    model: fc.constantFrom('a', 'b', 'c', 'd'),
    size: fc.integer({ min: 0, max: 8 }).map(String),
  })

  test('an event is rated by one config at most, the first by order that holds by itself', () => {
    fc.assert(
      fc.property(configs, properties, (list, event) => {
        const byItself = list
          .toSorted((a, b) => a.order - b.order)
          .find(each => matches(usageConditionOf(each.conditions ?? all(), NAMES), event))
        expect(rating(null, list, event)).toEqual(byItself ? [byItself.id] : [])
      }),
    )
  })
  test('with a default exactly one config rates every event that the item is about, and none any other', () => {
    fc.assert(
      fc.property(configs, fc.option(conditions), properties, fc.nat(6), (list, item, event, turn) => {
        const withDefault = [
          ...list.map(each => ({ ...each, order: each.order * 2 })),
          config('default', turn * 2 + 1, null),
        ]
        const about = item === null || matches(usageConditionOf(item, NAMES), event)
        expect(rating(item, withDefault, event)).toHaveLength(about ? 1 : 0)
      }),
    )
  })
})
