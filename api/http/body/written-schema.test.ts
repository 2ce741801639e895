import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { expect, test } from 'vitest'
import { Nullable, Period, Shape, Timestamp } from '../../resource/shapes.ts'
import { writtenSchema } from './written-schema.ts'

/** What the library writes by this very schema. */
const write = (schema: unknown, value: unknown): string =>
  SerializerSelector()({}, {})({ schema, method: '', url: '', httpStatus: '' })(value)

type Case = { readonly schema: TSchema; readonly value: unknown }
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '"', '\\', '\n', 'null'))
const leaf: fc.Arbitrary<Case> = fc.oneof(
  text.map(value => ({ schema: Type.String(), value })),
  fc.constant({ schema: Timestamp, value: '2026-01-31T23:59:59.999Z' }),
  fc.constantFrom('A', 'B').map(value => ({ schema: Type.Enum(['A', 'B']), value })),
  fc.constant({ schema: Type.Literal('x'), value: 'x' }),
  fc.integer().map(value => ({ schema: Type.Integer(), value })),
  fc.boolean().map(value => ({ schema: Type.Boolean(), value })),
  fc
    .dictionary(fc.constantFrom('a', 'anyOf'), text)
    .map(value => ({ schema: Type.Record(Type.String(), Type.String()), value })),
)
const { any } = fc.letrec<{ any: Case; field: Case; object: Case }>(tie => ({
  any: fc.oneof({ maxDepth: 4 }, leaf, tie('object'), tie('field')),
  field: fc
    .tuple(
      tie('any'),
      fc.constantFrom('as it is', 'may be null', 'is null', 'in a list', 'or another', 'or another, or null'),
    )
    .map(([{ schema, value }, form]) => {
      if (form === 'may be null') return { schema: Nullable(schema), value }
      if (form === 'is null') return { schema: Nullable(schema), value: null }
      if (form === 'in a list') return { schema: Type.Array(schema), value: [value, value] }
      const other = Shape({ only: Type.Literal('other'), note: Nullable(Type.String()) })
      if (form === 'or another') return { schema: Type.Union([other, schema]), value: { only: 'other', note: null } }
      if (form === 'or another, or null') return { schema: Type.Union([other, schema, Type.Null()]), value }
      return { schema, value }
    }),
  object: fc
    .dictionary(fc.constantFrom('a', 'b', 'anyOf', 'default', 'nullable', 'enum'), tie('field'), { maxKeys: 4 })
    .map(fields => ({
      schema: Shape(Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))),
      value: Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])),
    })),
}))

test('for any value that a schema allows, the same text is written', () => {
  fc.assert(
    fc.property(any, ({ schema, value }) => {
      expect(write(writtenSchema(schema), value)).toBe(write(schema, value))
    }),
    { numRuns: 30 },
  )
})

test('a field that may be null needs no validator, in whatever form it is given', () => {
  const fields = [Type.String(), Type.Enum(['A', 'B']), Type.Array(Type.String()), Shape({ a: Nullable(Timestamp) })]
  for (const each of fields) expect(JSON.stringify(writtenSchema(Nullable(each)))).not.toContain('anyOf')
})

test('a field that was left out stays out, whatever is the default of its type', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Union([Type.String({ default: 'x' }), Type.Null()])) })
  expect(write(writtenSchema(schema), {})).toBe('{}')
})

test('a union of several types stays as it is', () => {
  const schema = Type.Union([Type.String(), Type.Integer(), Type.Null()])
  expect(writtenSchema(schema)).toEqual(JSON.parse(JSON.stringify(schema)))
})

test('what a period may be is no matter of its answer', () => {
  expect(writtenSchema(Period)).not.toHaveProperty('then')
  expect(write(writtenSchema(Nullable(Period)), { type: 'YEAR', value: 2 })).toBe('{"type":"YEAR","value":2}')
})

test('a schema below many that may be null is copied once, not twice for each of them', () => {
  let reads = 0
  const deepest = Object.defineProperty({ type: 'string' }, 'title', { enumerable: true, get: () => `${++reads}` })
  const nested = Array.from({ length: 12 }).reduce<unknown>(
    below => ({ anyOf: [{ type: 'object', properties: { below } }, { type: 'null' }] }),
    deepest,
  )
  writtenSchema(nested)
  // Once as a member of what is above it, and once where it is copied itself.
  expect(reads).toBeLessThanOrEqual(2)
})
