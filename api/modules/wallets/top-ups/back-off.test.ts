// When an auto top-up that failed is tried again (semantics 6).
import { expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { nextAttemptAt } from './back-off.ts'

test.each([
  [1, '2026-03-01T00:15:00Z'],
  [2, '2026-03-01T00:30:00Z'],
  [3, '2026-03-01T01:00:00Z'],
  [7, '2026-03-01T16:00:00Z'],
  [8, '2026-03-02T00:00:00Z'],
  [1_000, '2026-03-02T00:00:00Z'],
])('after %i failures at midnight of 1 March: %s', (failures, next) => {
  expect(nextAttemptAt(failures, instantOf(Date.parse('2026-03-01T00:00:00Z')))).toBe(next)
})
