import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyFilter, filterOf } from './filter.ts'
import { RECORD_BYTES, readRecord, sortedRecords, writeRecord } from './record.ts'

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits })
const claims = fc.record({
  idHash: hex(32),
  contentHash: hex(16),
  seq: fc.integer({ min: 0, max: 2 ** 44 - 1 }),
  line: fc.integer({ min: 0, max: 2 ** 20 - 1 }),
})

describe('a record', () => {
  test('reads back as the claim that was written', () => {
    fc.assert(
      fc.property(claims, claim => {
        const buffer = Buffer.alloc(2 * RECORD_BYTES)
        writeRecord(buffer, RECORD_BYTES, claim)
        expect(readRecord(buffer, RECORD_BYTES, claim.idHash)).toEqual(claim)
      }),
    )
  })
  test.each([
    [-1, 0],
    [2 ** 44, 0],
    [1, 2 ** 20],
  ])('refuses the place %i/%i, which it could not tell from another', (seq, line) => {
    const claim = { idHash: '0'.repeat(32), contentHash: '0'.repeat(16), seq, line }
    expect(() => writeRecord(Buffer.alloc(RECORD_BYTES), 0, claim)).toThrow(RangeError)
  })
  test('stands before another when its hash does, as text', () => {
    fc.assert(
      fc.property(fc.uniqueArray(claims, { selector: claim => claim.idHash, maxLength: 50 }), list => {
        const sorted = sortedRecords(list, list.length)
        const keys = list.map((_, place) => sorted.toString('hex', place * RECORD_BYTES, place * RECORD_BYTES + 16))
        expect(keys).toEqual(list.map(({ idHash }) => idHash).toSorted())
      }),
    )
  })
})

test('a filter knows every key it was given, and takes fewer than one in fifty others for one of them', () => {
  const keys = Buffer.alloc(20_000 * 16)
  let state = 1
  for (let at = 0; at < keys.length; at += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    keys.writeUInt32BE(state, at)
  }
  const filter = filterOf(emptyFilter(10_000))
  const keyAt = (number: number) => keys.subarray(number * 16, number * 16 + 16)
  for (let number = 0; number < 10_000; number += 1) filter.add(keys, number * 16)
  let mistaken = 0
  for (let number = 0; number < 20_000; number += 1) {
    if (number < 10_000) expect(filter.has(keyAt(number))).toBe(true)
    else if (filter.has(keyAt(number))) mistaken += 1
  }
  expect(mistaken).toBeLessThan(200)
})
