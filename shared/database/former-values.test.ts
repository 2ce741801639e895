import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedFields, formerValues, withFormerValues } from './former-values.ts'

test.each([
  ['nothing', { a: 1 }, { a: 1 }, []],
  ['a value', { a: 1, b: 2 }, { a: 3, b: 2 }, [{ path: ['a'], value: 1 }]],
  ['a value that was null', { a: null }, { a: 3 }, [{ path: ['a'], value: null }]],
  ['a field that came', {}, { a: 1 }, [{ path: ['a'] }]],
  ['a field that went', { a: 1 }, {}, [{ path: ['a'], value: 1 }]],
  [
    'one amount of one line',
    { lines: [{ amount: '1' }, { amount: '2' }] },
    { lines: [{ amount: '1' }, { amount: '3' }] },
    [{ path: ['lines', 1, 'amount'], value: '2' }],
  ],
  ['a list of another length, as a whole', { l: [1, 2] }, { l: [1] }, [{ path: ['l'], value: [1, 2] }]],
  ['a list in place of an object', { a: { b: 1 } }, { a: [1] }, [{ path: ['a'], value: { b: 1 } }]],
])('%s', (_name, previous, data, former) => {
  expect(formerValues(previous, data)).toEqual(former)
  expect(withFormerValues(data, former)).toEqual(previous)
})

// Values that share most of what they hold, as the two sides of an update do, and names that objects have of their own.
const name = fc.constantFrom('a', 'b', 'lines', '__proto__', 'constructor', 'toString', '0')
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, '', 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
  ),
}))
const json = value.map(each => JSON.parse(JSON.stringify(each)))

test('putting the former values back gives what was there, whatever changed', () => {
  fc.assert(
    fc.property(json, json, (previous, data) => {
      const former = JSON.parse(JSON.stringify(formerValues(previous, data)))
      const whole = JSON.stringify(data)
      expect(JSON.stringify(sorted(withFormerValues(data, former)))).toBe(JSON.stringify(sorted(previous)))
      expect(JSON.stringify(data)).toBe(whole)
    }),
    { numRuns: 2_000 },
  )
})

test('what is not yet JSON is compared as JSON has it', () => {
  const form = fc.record({ toJSON: fc.constantFrom(null, 'x', { a: 1 }).map(made => () => made) })
  const { live } = fc.letrec(tie => ({
    live: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(undefined, null, 0, -0, Number.NaN, Number.POSITIVE_INFINITY, '', 'x'),
      fc.constantFrom(new Date(0), new Date(1), new Date(Number.NaN)),
      form,
      fc.array(tie('live'), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie('live')), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }))
  const object = fc.array(fc.tuple(name, live), { maxLength: 4 }).map(entries => Object.fromEntries(entries))
  const written = (each: unknown) => JSON.parse(JSON.stringify(each))
  fc.assert(
    fc.property(object, object, (previous, data) => {
      const own = formerValues(previous, data)
      const ofJson = formerValues(written(previous), written(data))
      expect(JSON.stringify(own)).toBe(JSON.stringify(ofJson))
      expect(changedFields(own, data)).toEqual(changedFields(ofJson, written(data)))
    }),
    { numRuns: 2_000 },
  )
})

test('the fields of an update are those that differ in any depth, and one that is absent is as one that is null', () => {
  const field = (of: object, named: string) => Object.getOwnPropertyDescriptor(of, named)?.value ?? null
  const object = fc.array(fc.tuple(name, json), { maxLength: 4 }).map(entries => Object.fromEntries(entries))
  fc.assert(
    fc.property(object, object, (previous, data) => {
      const names = [...new Set([...Object.keys(previous), ...Object.keys(data)])].filter(
        named => !isDeepStrictEqual(field(previous, named), field(data, named)),
      )
      expect(changedFields(formerValues(previous, data), data)).toEqual(names.sort())
    }),
    { numRuns: 2_000 },
  )
})

/** PostgreSQL keeps members in an order of its own, so theirs means nothing. */
function sorted(each: unknown): unknown {
  if (Array.isArray(each)) return each.map(sorted)
  if (typeof each !== 'object' || each === null) return each
  return Object.entries(each)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
