import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReferencesSeen } from './references-seen.ts'

const hashOf = (name: number) => createHash('sha256').update(String(name)).digest('hex').slice(0, 32)

test('the first line of a reference has it, as in a map, however many there are', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500), { maxLength: 2_000 }), names => {
      const seen = new ReferencesSeen()
      const first = new Map<number, number>()
      for (const [index, name] of names.entries()) {
        const expected = first.get(name) ?? null
        expect(seen.claim(hashOf(name), index + 1)).toBe(expected)
        if (expected === null) first.set(name, index + 1)
      }
    }),
    { numRuns: 20 },
  )
})

test('it grows, and a line that claims again what it has finds it free', () => {
  const seen = new ReferencesSeen()
  for (let line = 1; line <= 20_000; line += 1) expect(seen.claim(hashOf(line), line)).toBe(null)
  for (let line = 1; line <= 20_000; line += 1) expect(seen.claim(hashOf(line), line)).toBe(null)
  expect(seen.claim(hashOf(7), 20_001)).toBe(7)
})
