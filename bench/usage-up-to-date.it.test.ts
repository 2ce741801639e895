// The barrier a billing run waits at: what was accepted before it is in the usage it then reads.
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAggregator, eventLineOf, type TestAggregator } from '../aggregator/testing.ts'
import { usageUpToDate, waitForUsage } from '../api/usage/up-to-date.ts'
import { ensureStreams, logEnds } from '../shared/log/streams.ts'
import { createTestClickHouse, type TestClickHouse } from '../shared/testing/clickhouse.ts'
import { startTestNats, type TestNats } from '../shared/testing/nats.ts'
import { systemClock } from '../shared/time.ts'

let nats: TestNats
let clickhouse: TestClickHouse
let aggregator: TestAggregator
beforeAll(async () => {
  nats = await startTestNats()
  clickhouse = await createTestClickHouse()
  aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
})
afterAll(async () => {
  await aggregator.close()
  await nats.stop()
  await clickhouse.drop()
})

test('opens when everything accepted before is stored, and not earlier', async () => {
  const jsm = await jetstreamManager(aggregator.nats)
  await ensureStreams(jsm, { partitions: aggregator.partitions, replicas: 1 })
  const deps = { client: aggregator.client, jsm, clock: systemClock, partitions: aggregator.partitions }
  const idle = await usageUpToDate(deps)
  expect(systemClock.now() - idle.upToDateUntil).toBeLessThan(5_000)

  const references = Array.from({ length: 30 }, (_, index) => `r${index}`)
  await aggregator.publish(references.map(reference => eventLineOf({ reference })))
  const ends = await logEnds(jsm, aggregator.partitions)
  expect(await waitForUsage(aggregator.client, { ends, timeoutMs: 300 })).toBe(false)
  expect((await usageUpToDate(deps)).upToDateUntil).toBe(0)

  const running = await aggregator.start()
  expect(await waitForUsage(aggregator.client, { ends, timeoutMs: 20_000 })).toBe(true)
  expect(await aggregator.rows('SELECT count() FROM usage_events FINAL')).toEqual([['30']])
  const after = await usageUpToDate(deps)
  expect(after.partitions.map(({ storedSeq, endSeq }) => storedSeq === endSeq)).toEqual([true, true])
  expect(systemClock.now() - after.upToDateUntil).toBeLessThan(5_000)
  await running.stop()
})
