import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Bucket, bucketKey, byPlace } from '../outcome.ts'
import { groupsOf, keyOfRow } from './rollup-sql.ts'

const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.string({ minLength: 15_000, maxLength: 20_000 }),
)
const bucket: fc.Arbitrary<Bucket> = fc.record({
  platformId: fc.constantFrom('plat_1', 'plat_2'),
  environment: fc.constantFrom('LIVE', 'TEST'),
  customerKey: name,
  meterReference: fc.constantFrom('m', 'n'),
  hour: fc.integer({ min: 0, max: 1_000_000 }).map(hour => hour * 3_600),
})
const NAME_BYTES_MAX = 64 * 1024

test('a statement is for buckets of one tenant, in the order of their rows, few and short enough', () => {
  fc.assert(
    fc.property(fc.uniqueArray(bucket, { selector: bucketKey, maxLength: 40 }), buckets => {
      const groups = groupsOf(buckets)
      expect(groups.flat()).toEqual(buckets.toSorted(byPlace))
      for (const group of groups) {
        expect(new Set(group.map(({ platformId, environment }) => `${platformId} ${environment}`)).size).toBe(1)
        const bytes = group.map(each => 2 * Buffer.byteLength(each.customerKey + each.meterReference))
        expect(group.length === 1 || bytes.reduce((sum, own) => sum + own, 0) <= NAME_BYTES_MAX).toBe(true)
      }
    }),
    { numRuns: 50 },
  )
})

test('more buckets than a statement takes are several statements', () => {
  const one: Bucket = { platformId: 'p', environment: 'LIVE', customerKey: 'c', meterReference: 'm', hour: 0 }
  const buckets = Array.from({ length: 1_025 }, (_, hour) => ({ ...one, hour: hour * 3_600 }))
  expect(groupsOf(buckets).map(({ length }) => length)).toEqual([512, 512, 1])
  expect(groupsOf(buckets, 1_000).map(({ length }) => length)).toEqual([1_000, 25])
})

test('a row gives the key of its bucket, in the tenant of the statement', () => {
  const one: Bucket = { platformId: 'p', environment: 'LIVE', customerKey: 'c', meterReference: 'm', hour: 3_600 }
  expect(keyOfRow([{ ...one, customerKey: 'another' }], ['c', 'm', 3_600])).toBe(bucketKey(one))
  expect(() => keyOfRow([], ['c', 'm', 3_600])).toThrow('at least one bucket')
})
