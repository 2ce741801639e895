import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTokenBuckets } from './token-buckets.ts'

const at = (max = 100) => {
  const time = { nowMs: 0 }
  const buckets = createTokenBuckets({ nowMs: () => time.nowMs, max })
  return { time, buckets }
}

test('a burst passes, then as many as are filled in, and the answer says what is left', () => {
  const { time, buckets } = at()
  const size = { perSecond: 2, burst: 3 }
  const passed = () => buckets.take('a', size).passed
  expect([passed(), passed()]).toEqual([true, true])
  expect(buckets.take('a', size)).toEqual({
    passed: true,
    burst: 3,
    remaining: 0,
    resetSeconds: 2,
    retryAfterSeconds: 1,
  })
  expect(buckets.take('a', size)).toMatchObject({ passed: false, remaining: 0, retryAfterSeconds: 1 })
  expect(buckets.take('b', size).passed).toBe(true)
  time.nowMs += 500
  expect([passed(), passed()]).toEqual([true, false])
  time.nowMs += 3_600_000
  expect([passed(), passed(), passed(), passed()]).toEqual([true, true, true, false])
})

test('over any time no more than the burst and the rate passes, and Retry-After is true', () => {
  fc.assert(
    fc.property(
      fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 50 }) }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 }),
      (size, waits) => {
        const { time, buckets } = at()
        let passed = 0
        for (const wait of waits) {
          time.nowMs += wait
          const taken = buckets.take('a', size)
          if (!taken.passed) {
            time.nowMs += taken.retryAfterSeconds * 1_000
            expect(buckets.take('a', size).passed).toBe(true)
          }
          passed += 1
        }
        expect(passed).toBeLessThanOrEqual(size.burst + (time.nowMs / 1_000) * size.perSecond + 1e-6)
      },
    ),
  )
})

test('however many names come, no more than so many buckets are kept: the one used longest ago goes', () => {
  const { buckets } = at(3)
  const size = { perSecond: 1, burst: 1 }
  for (const name of ['a', 'b', 'c', 'a', 'd', 'e']) buckets.take(name, size)
  expect(buckets.count()).toBe(3)
  expect(buckets.take('a', size).passed).toBe(false)
  for (let index = 0; index < 1_000; index += 1) buckets.take(`${index}`, size)
  expect(buckets.count()).toBe(3)
  expect(buckets.take('a', size).passed).toBe(true)
})

test('a smaller size takes effect on a bucket that is there', () => {
  const { buckets } = at()
  buckets.take('a', { perSecond: 100, burst: 100 })
  expect(buckets.take('a', { perSecond: 1, burst: 2 })).toMatchObject({ passed: true, remaining: 1, burst: 2 })
})
