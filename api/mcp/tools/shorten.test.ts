import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shorten } from './shorten.ts'

const size = (value: unknown): number => JSON.stringify(value).length

test('what fits is returned as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(shorten(value, size(value))).toEqual({ value, leftOut: [] })
    }),
  )
})

test('what does not fit comes out no longer than allowed, and says where it was cut', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 100, max: 2_000 }), (value, characters) => {
      const { value: short, leftOut } = shorten(value, characters)
      expect(size(short)).toBeLessThanOrEqual(Math.max(characters, 100))
      expect(leftOut.length > 0).toBe(size(value) > characters)
    }),
    { numRuns: 300 },
  )
})

test('nothing is invented: what is shown stands in the original at the same place', () => {
  const within = (part: unknown, whole: unknown): boolean => {
    if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
    if (typeof part !== 'object' || part === null) return part === whole
    return Object.entries(part).every(([name, member]) => within(member, (whole as Record<string, unknown>)[name]))
  }
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 50, max: 500 }), (value, characters) => {
      expect(within(shorten(value, characters).value, value)).toBe(true)
    }),
  )
})

test('a page keeps its numbers and as many whole rows as there is room for', () => {
  const row = { id: 'x'.repeat(90) }
  const page = { data: Array.from({ length: 50 }, () => row), page: 1, limit: 50, links: { next: null } }
  const { value, leftOut } = shorten(page, 1_100)
  expect(value).toEqual({ ...page, data: Array.from({ length: 10 }, () => row) })
  expect(leftOut).toEqual([{ at: 'data.data', shown: 10, of: 50 }])
})

test('one row too long for the answer is shown in part', () => {
  const { value, leftOut } = shorten([{ id: 'a', note: 'x'.repeat(1_000) }], 200)
  expect(value).toEqual([{ id: 'a', note: expect.stringMatching(/^x{100,}$/) }])
  expect(leftOut.map(({ at }) => at)).toEqual(['data[0].note'])
})
