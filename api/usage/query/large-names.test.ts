import { expect, test } from 'vitest'
import { createLargeNames } from './large-names.ts'

const MINUTE = 60_000

test('a name is large for ten minutes, for as much time as was too much or more', () => {
  const large = createLargeNames()
  large.add(['a', 'b'], 1_000, 0)
  expect(large.hasAny(['c', 'a'], 1_000, MINUTE)).toBe(true)
  expect(large.hasAny(['a'], 999, MINUTE)).toBe(false)
  expect(large.hasAny(['c'], 1_000, MINUTE)).toBe(false)
  large.add(['a'], 5_000, MINUTE)
  expect(large.hasAny(['a'], 1_000, 2 * MINUTE)).toBe(true)
  large.add(['a'], 10, 2 * MINUTE)
  expect(large.hasAny(['a'], 10, 3 * MINUTE)).toBe(true)
  expect(large.hasAny(['b'], 1_000, 10 * MINUTE)).toBe(false)
  expect(large.hasAny(['a'], 10, 12 * MINUTE)).toBe(false)
})

test('the names that were added first are forgotten first', () => {
  const large = createLargeNames()
  large.add(['first', 'again'], 1, 0)
  large.add(
    Array.from({ length: 19_998 }, (_, place) => `${place}`),
    1,
    0,
  )
  large.add(['again', 'last'], 1, 0)
  expect(['first', '0', 'again', 'last'].map(name => large.hasAny([name], 1, 1))).toEqual([false, true, true, true])
})
