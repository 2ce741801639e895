import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateLimits } from './rate-limits.ts'
import { createShareBook } from './share-book.ts'

const live = { platformId: 'plat_1', environment: 'LIVE' } as const
const at = (ratePerSecond: number) => {
  const time = { nowMs: 0 }
  const nowMs = () => time.nowMs
  const own = { LIVE: ratePerSecond, TEST: 1, version: 0 }
  const limits = createRateLimits({
    limits: {
      of: ({ environment }) => ({ eventsPerSecond: own[environment], batchMax: 50 }),
      version: () => own.version,
    },
    shares: createShareBook({ gateway: 'a', nowMs }),
    nowMs,
  })
  return {
    time,
    limits,
    change: (rate: number) => {
      own.LIVE = rate
      own.version += 1
    },
    take: (events: number, tenant: Parameters<typeof limits.take>[0] = live) => limits.take(tenant, events),
  }
}

test('a second takes the rate and not one event more', () => {
  const { time, take } = at(100)
  expect(take(50)).toBe(0)
  expect(take(50)).toBe(0)
  expect(take(1)).toBe(1)
  time.nowMs += 10
  expect(take(1)).toBe(0)
  expect(take(1)).toBe(1)
})

test('a refused request takes nothing', () => {
  const { take } = at(100)
  expect(take(60)).toBe(0)
  expect(take(60)).toBe(1)
  expect(take(40)).toBe(0)
})

test('tenants and environments do not share', () => {
  const { take } = at(10)
  expect(take(10)).toBe(0)
  expect(take(10, { platformId: 'plat_2', environment: 'LIVE' })).toBe(0)
  expect(take(1, { platformId: 'plat_1', environment: 'TEST' })).toBe(0)
  expect(take(1)).toBe(1)
})

test('Retry-After is true: the same request passes then, and over any time no more than the rate and one burst passes', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.record({ events: fc.integer({ min: 1, max: 50 }), waitMs: fc.integer({ min: 0, max: 700 }) }), {
        minLength: 1,
        maxLength: 60,
      }),
      (rate, requests) => {
        const { time, take } = at(rate)
        let passed = 0
        for (const { events, waitMs } of requests) {
          time.nowMs += waitMs
          const retryAfter = take(events)
          expect(Number.isInteger(retryAfter)).toBe(true)
          if (retryAfter > 0) {
            time.nowMs += retryAfter * 1000
            expect(take(events)).toBe(0)
          }
          passed += events
        }
        // The last batch may leave a debt of one batch when the rate is below a batch.
        expect(passed).toBeLessThanOrEqual(rate + (time.nowMs * rate) / 1000 + 50)
      },
    ),
  )
})

test('a limit that is changed acts on the next request, up and down', () => {
  const { time, take, change } = at(100)
  expect(take(100)).toBe(0)
  change(1000)
  time.nowMs += 100
  expect(take(10)).toBe(0) // what was gathered at the old limit
  time.nowMs += 100
  expect(take(100)).toBe(0)
  time.nowMs += 10_000
  change(20)
  expect(take(20)).toBe(0)
  expect(take(1)).toBe(1)
})

test('what is asked for is measured with what was refused, fades, and is forgotten with the bucket', () => {
  const { time, limits, take } = at(100)
  take(80)
  take(21) // refused
  time.nowMs += 2_000
  expect(limits.measure()).toEqual(new Map([['plat_1/LIVE', 51]])) // 50.5, rounded up
  take(500)
  time.nowMs += 200
  expect(limits.measure()).toEqual(new Map([['plat_1/LIVE', 100]])) // never more than the limit
  time.nowMs += 200
  expect(limits.measure()).toEqual(new Map([['plat_1/LIVE', 25]]))
  for (let turn = 0; turn < 40; turn += 1) {
    time.nowMs += 200
    limits.measure()
  }
  expect(limits.measure().size).toBe(0)
  expect(take(100)).toBe(0)
  expect(take(1)).toBe(1)
})
