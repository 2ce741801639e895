// Several aggregators on one log: they share it out, hand it over, and when both work a partition at once nothing shows.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestClickHouse, type TestClickHouse } from '../shared/testing/clickhouse.ts'
import { startTestNats, type TestNats } from '../shared/testing/nats.ts'
import type { Aggregator } from './aggregator.ts'
import { openLeaseStore } from './leases/lease-store.ts'
import { EMPTY_TABLE } from './leases/lease-table.ts'
import { createTestAggregator, deleteLineOf, eventLineOf, soleMemberLeases, type TestAggregator } from './testing.ts'

const PARTITIONS = 4
let clickhouse: TestClickHouse
let server: TestNats
let world: TestAggregator
let folder: string
const running: Aggregator[] = []

beforeEach(async () => {
  clickhouse = await createTestClickHouse()
  server = await startTestNats()
  world = await createTestAggregator({ natsUrl: server.url, clickhouse, partitions: PARTITIONS })
  folder = mkdtempSync(join(tmpdir(), 'millrace-several-'))
})
afterEach(async () => {
  for (const aggregator of running.splice(0)) await aggregator.stop()
  await world.close()
  await server.stop()
  await clickhouse.drop()
  rmSync(folder, { recursive: true })
})

async function start(name: string, alone = false): Promise<Aggregator> {
  const indexDirectory = join(folder, name)
  const aggregator = await world.start({ indexDirectory, ...(alone ? { leases: soleMemberLeases() } : {}) })
  running.push(aggregator)
  return aggregator
}
const held = (aggregator: Aggregator) => [...aggregator.held()].toSorted((a, b) => a - b)
const events = (from: number, to: number, quantity = '1') =>
  Array.from({ length: to - from }, (_, at) => eventLineOf({ reference: `e-${from + at}`, quantity }))

const COUNTED =
  'SELECT count(), uniqExact(reference), toString(sum(value_quantities[1])) FROM usage_events FINAL WHERE deleted = 0'
const count = (table: string) => world.rows<[string]>(`SELECT count() FROM ${table} FINAL`)

describe('several aggregators', () => {
  test('share the partitions evenly; one that comes gets its share, one that stops gives it back at once', async () => {
    const first = await start('a')
    expect(held(first)).toEqual([0, 1, 2, 3])
    await world.publish(events(0, 100))
    const second = await start('b')
    await expect.poll(() => held(second).length).toBe(2)
    await expect.poll(() => held(first).length).toBe(2)
    expect([...held(first), ...held(second)].toSorted()).toEqual([0, 1, 2, 3])
    // Repeats of what the first aggregator saw: the second has it from usage_events or from the log, never from memory.
    await world.publish([...events(0, 100, '5'), ...events(100, 200)])
    await world.settle()
    const third = await start('c')
    await expect.poll(() => [first, second, third].map(each => held(each).length).toSorted()).toEqual([1, 1, 2])
    running.splice(running.indexOf(second), 1)
    await second.stop()
    await expect.poll(() => held(first).length + held(third).length).toBe(4)
    await world.publish([...events(0, 200, '7'), ...events(200, 300)])
    await world.settle()
    expect(await world.rows(COUNTED)).toEqual([['300', '300', '300']])
    expect(await count('usage_duplicates')).toEqual([['300']])
    expect(await count('usage_dead_letters')).toEqual([['0']])
  })

  test('a stale index is caught up before it decides: what others counted meanwhile is known', async () => {
    const first = await start('a')
    await world.publish(events(0, 50))
    await world.settle()
    running.splice(0)
    await first.stop()
    const other = await start('b')
    await world.publish(events(50, 150))
    await world.publish([deleteLineOf({ reference: 'e-60' })])
    await world.settle()
    running.splice(0)
    await other.stop()
    await start('a')
    await world.publish(events(0, 150, '9'))
    await world.settle()
    expect(await world.rows(COUNTED)).toEqual([['149', '149', '149']])
    expect(await count('usage_duplicates')).toEqual([['150']])
    expect(await count('usage_dead_letters')).toEqual([['0']])
  })

  test('two that work every partition at the same time count every event once, and positions only grow', async () => {
    await Promise.all([start('a', true), start('b', true)])
    let stop = false
    const positions: number[][] = []
    const watching = (async () => {
      while (!stop) {
        const rows = await world.rows<[string]>('SELECT log_seq FROM usage_positions FINAL ORDER BY log_partition')
        if (rows.length === PARTITIONS) positions.push(rows.map(([seq]) => Number(seq)))
        await sleep(20)
      }
    })()
    for (let call = 0; call < 30; call += 1) {
      await world.publish(events(call * 20, call * 20 + 40, String(1 + (call % 3))))
      if (call % 5 === 0) await world.publish([deleteLineOf({ reference: `e-${call * 20}` })])
      // A third and a fourth come and go, with no index and with a stale one.
      if (call % 10 === 9) {
        const brief = await start('c', true)
        running.splice(running.indexOf(brief), 1)
        await brief.stop()
      }
    }
    await world.settle()
    stop = true
    await watching
    // Of e-n the first copy counts, sent by call n/20 - 1 (by call 0 for the first); six of them were deleted.
    const firstCall = (n: number) => Math.max(0, Math.floor(n / 20) - 1)
    const kept = Array.from({ length: 620 }, (_, n) => n).filter(n => !(n % 100 === 0 && n < 600))
    const sum = kept.reduce((total, n) => total + 1 + (firstCall(n) % 3), 0)
    expect(await world.rows(COUNTED)).toEqual([['614', '614', String(sum)]])
    expect(await count('usage_duplicates')).toEqual([['580']])
    expect(await count('usage_dead_letters')).toEqual([['0']])
    for (const [at, now] of positions.entries()) {
      for (const [partition, seq] of now.entries())
        expect(seq).toBeGreaterThanOrEqual(positions[at - 1]?.[partition] ?? 0)
    }
    expect(positions.length).toBeGreaterThan(3)
  })

  test('the lease table begins again when the broker lost it, and nothing is lost with it', async () => {
    const first = await start('a')
    await world.publish(events(0, 20))
    const jsm = await jetstreamManager(world.nats)
    await jsm.streams.delete('AGGREGATOR_LEASES')
    const second = await start('b')
    await expect.poll(() => held(first).length + held(second).length).toBe(4)
    await world.publish(events(0, 40))
    await world.settle()
    expect(await world.rows(COUNTED)).toEqual([['40', '40', '40']])
  })
})

test('of two that replace the lease table at once one is told, also the first time and by another number of replicas', async () => {
  const jsm = await jetstreamManager(world.nats)
  const [one, other] = await Promise.all([openLeaseStore(world.nats, jsm, 1), openLeaseStore(world.nats, jsm, 1)])
  expect(await one.read()).toEqual({ table: EMPTY_TABLE, revision: 0 })
  const of = (id: string) => ({ members: { [id]: { beat: 1, indexed: [] } }, owners: { 0: id } })
  const answers = await Promise.all([one.replace(of('a'), 0), other.replace(of('b'), 0)])
  expect(answers.toSorted()).toEqual([false, true])
  const { table, revision } = await one.read()
  expect(table).toEqual(of(answers[0] ? 'a' : 'b'))
  expect(await other.replace(EMPTY_TABLE, revision)).toBe(true)
  expect(await one.replace(of('a'), revision)).toBe(false)
})
