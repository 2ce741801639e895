import Type from 'typebox'
import { expect, test } from 'vitest'
import { Period } from '../../resource/shapes.ts'
import { maximumOf, withoutCondition } from './conditions.ts'

test('a shape tells the maximum that its condition sets, and keeps the rest without it', () => {
  expect(maximumOf(Period)).toEqual({ field: 'value', maximum: 100 })
  const { if: _if, then: _then, ...rest } = Period as typeof Period & Record<'if' | 'then', unknown>
  expect(withoutCondition(Period)).toEqual(rest)
})

test('fields that are named like the words of a condition are no condition', () => {
  const bounds = Type.Object({ properties: Type.Object({ value: Type.Integer({ maximum: 3 }) }) })
  const fields = Object.fromEntries(['if', 'then', 'type'].map(name => [name, bounds]))
  for (const schema of [Type.Object(fields), Type.Object(fields).properties]) {
    expect(maximumOf(schema)).toBe(null)
    expect(withoutCondition(schema)).toBe(schema)
  }
})
