import { expect, test } from 'vitest'
import { createAllowance } from './allowance.ts'

test('gives as many as it holds at once, and then so many a second', () => {
  let now = 5_000
  const allowance = createAllowance({ most: 3, perSecond: 2, nowMs: () => now })
  expect([allowance.take(2), allowance.take(2), allowance.take(1), allowance.take(1)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  now += 500
  expect([allowance.take(1), allowance.take(1)]).toEqual([true, false])
  now += 60_000
  expect([allowance.take(4), allowance.take(3)]).toEqual([false, true])
})
