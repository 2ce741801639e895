import { expect, test } from 'vitest'
import { countThrottled, newCounts } from './metrics.ts'

test('events over the limit are counted by platform, and tenants beyond a bound together', () => {
  const counts = newCounts()
  for (let tenant = 0; tenant < 10_000; tenant += 1)
    countThrottled(counts, { platformId: `plat_${tenant}`, environment: 'LIVE' }, 2)
  countThrottled(counts, { platformId: 'plat_0', environment: 'LIVE' }, 5)
  const all = [...counts.throttledEvents.values()]
  expect(all.length).toBeLessThanOrEqual(501)
  expect(all.find(({ platform }) => platform === 'plat_0')?.events).toBe(7)
  expect(all.reduce((sum, { events }) => sum + events, 0)).toBe(20_005)
})
