import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseInstant } from '../../../shared/time.ts'
import { createTimestampReader } from './timestamp.ts'

const good = fc
  .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2199-12-31T23:59:59Z'), noInvalidDate: true })
  .chain(date =>
    fc.constantFrom(
      date.toISOString(),
      `${date.toISOString().slice(0, 19)}Z`,
      `${date.toISOString().slice(0, 19)}+05:30`,
    ),
  )
const sameDay = fc.integer({ min: 0, max: 86_399_999 }).map(ms => new Date(Date.UTC(2026, 0, 31) + ms).toISOString())
const mutated = fc
  .tuple(sameDay, fc.integer({ min: 0, max: 23 }), fc.constantFrom('x', '9', ':', '.', ' ', '-', 'Z', '٣', ''))
  .map(([text, at, replacement]) => text.slice(0, at) + replacement + text.slice(at + 1))

test('the quick reader and parseInstant agree on every text, whatever was read before', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(good, sameDay, mutated, fc.string()), { minLength: 1, maxLength: 20 }), texts => {
      const read = createTimestampReader()
      for (const text of texts) expect(read(text), text).toBe(parseInstant(text))
    }),
    { numRuns: 2_000 },
  )
})
