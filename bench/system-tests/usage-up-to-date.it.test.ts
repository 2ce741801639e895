// The barrier a billing run waits at: what was accepted before it is in the usage it then reads.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAggregator, eventLineOf, type TestAggregator } from '../../aggregator/testing.ts'
import { usageUpToDate, waitForUsage } from '../../api/usage/up-to-date.ts'
import { partitionOf } from '../../shared/contracts/usage-event.ts'
import { ensureStreams, logEnds } from '../../shared/log/streams.ts'
import { atTestTime, withTestTime } from '../../shared/test-time.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { type Fault, startFaultProxy } from '../../shared/testing/fault-proxy.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { instantOf, systemClock } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'

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
  const askedAt = systemClock.now()
  const idle = await usageUpToDate(deps)
  expect(idle.upToDateUntil).toBeGreaterThanOrEqual(askedAt)

  const references = Array.from({ length: 30 }, (_, index) => `r${index}`)
  const publishedAt = systemClock.now()
  await aggregator.publish(references.map(reference => eventLineOf({ reference })))
  const ends = await logEnds(jsm, aggregator.partitions)
  expect(await waitForUsage(aggregator.client, { ends, timeoutMs: 300 })).toBe(false)
  // Nothing was ever stored: complete is what was before the first message.
  const waiting = await usageUpToDate(deps)
  expect(waiting.partitions.every(({ storedSeq, endSeq }) => storedSeq < endSeq)).toBe(true)
  // By the clock of the broker.
  expect(waiting.upToDateUntil).toBeGreaterThan(publishedAt - 1_000)
  expect(waiting.upToDateUntil).toBeLessThan(systemClock.now())

  const running = await aggregator.start()
  expect(await waitForUsage(aggregator.client, { ends, timeoutMs: 120_000 })).toBe(true)
  expect(await aggregator.rows('SELECT count() FROM usage_events FINAL')).toEqual([['30']])
  const askedAgainAt = systemClock.now()
  const after = await usageUpToDate(deps)
  expect(after.partitions.map(({ storedSeq, endSeq }) => storedSeq === endSeq)).toEqual([true, true])
  expect(after.upToDateUntil).toBeGreaterThanOrEqual(askedAgainAt)
  // Events are accepted in the time of the day, also those of customers who live by a test clock.
  const clock = withTestTime(systemClock)
  for (const year of [2000, 2100]) {
    const askedInIt = systemClock.now()
    const frozen = await atTestTime(instantOf(Date.UTC(year, 0)), systemClock, () => usageUpToDate({ ...deps, clock }))
    expect(frozen.upToDateUntil).toBeGreaterThanOrEqual(askedInIt)
    expect(frozen.upToDateUntil).toBeLessThanOrEqual(systemClock.now())
  }
  await running.stop()

  // Each partition gets events after a quiet hour: what came before them is complete, not only what came before the hour.
  const inAnHour = { ...deps, clock: { now: () => instantOf(systemClock.now() + 3_600_000) } }
  const resumedAt = systemClock.now()
  await aggregator.publish(references.map(reference => eventLineOf({ reference: `later-${reference}` })))
  const resumed = await usageUpToDate(inAnHour)
  expect(resumed.partitions.every(({ storedSeq, endSeq }) => 0 < storedSeq && storedSeq < endSeq)).toBe(true)
  expect(resumed.partitions.every(({ storedAt }) => storedAt < resumedAt)).toBe(true)
  expect(resumed.upToDateUntil).toBeGreaterThanOrEqual(resumedAt)
})

describe('a wait', () => {
  /** Two partitions, one of which has had no traffic. */
  const withTraffic = async (world: TestAggregator, count: number) => {
    const jsm = await jetstreamManager(world.nats)
    await ensureStreams(jsm, { partitions: world.partitions, replicas: 1 })
    const events = Array.from({ length: count }, (_, number) => eventLineOf({ reference: `w${number}` }))
    await world.publish(events.filter(({ idHash }) => partitionOf(idHash, world.partitions) === 1))
    return logEnds(jsm, world.partitions)
  }
  async function withWorld(
    faultOf: () => Fault,
    work: (world: TestAggregator, client: ClickHouseClient) => Promise<void>,
  ) {
    const server = await startTestNats()
    const database = await createTestClickHouse()
    const proxy = await startFaultProxy(database.url, faultOf)
    const world = await createTestAggregator({ natsUrl: server.url, clickhouse: database })
    const client = createClickHouse(proxy.url, database.database)
    try {
      await work(world, client)
    } finally {
      await client.close()
      await world.close()
      await proxy.close()
      await server.stop()
      await database.drop()
    }
  }

  test('ends when a partition has no traffic, and while the partitions move from one aggregator to another', () =>
    withWorld(
      () => 'none',
      async (world, client) => {
        const folders = [mkdtempSync(join(tmpdir(), 'millrace-a-')), mkdtempSync(join(tmpdir(), 'millrace-b-'))]
        const [first, second] = await Promise.all(folders.map(indexDirectory => world.start({ indexDirectory })))
        const ends = await withTraffic(world, 200)
        expect(ends.get(0)).toBe(0)
        const waiting = waitForUsage(client, { ends, timeoutMs: 120_000 })
        await first?.stop()
        expect(await waiting).toBe(true)
        await second?.stop()
        for (const folder of folders) rmSync(folder, { recursive: true })
      },
    ))

  test('outlasts a ClickHouse that is away for a part of it, and says what is wrong when it stays away', async () => {
    let away = true
    await withWorld(
      () => (away ? 'refuse' : 'none'),
      async (world, client) => {
        const ends = await withTraffic(world, 20)
        const running = await world.start()
        await expect(waitForUsage(client, { ends, timeoutMs: 2_000 })).rejects.toThrow(/refused by a test/)
        const waiting = waitForUsage(client, { ends, timeoutMs: 120_000 })
        await sleep(300)
        away = false
        expect(await waiting).toBe(true)
        await running.stop()
      },
    )
  })

  test('is over in time although ClickHouse hangs, and at once when it is called off', () =>
    withWorld(
      () => ({ delayMs: 10_000 }),
      async (world, client) => {
        const ends = await withTraffic(world, 20)
        await expect(waitForUsage(client, { ends, timeoutMs: 300 })).rejects.toThrow('ClickHouse does not answer')
        const called = new AbortController()
        const waiting = waitForUsage(client, { ends, timeoutMs: 600_000, signal: called.signal })
        called.abort()
        expect(await waiting).toBe(false)
      },
    ))
})
