// Lists of a meter, read while aggregators store and copy records or are killed. Each list has every record that was stored before its request,
// and has it once.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMeterLists } from '../../../aggregator/meter-lists/meter-lists.ts'
import { readProgress } from '../../../aggregator/meter-lists/statements.ts'
import { createUsageSink, type UsageSink } from '../../../aggregator/sinks/usage-sink.ts'
import { eventLineOf, TEST_PLATFORM } from '../../../aggregator/testing.ts'
import { countStoredEvents, listStoredEvents, readBeyond } from '../../../api/usage/list/list-stored-events.ts'
import type { StoredEvent } from '../../../api/usage/stored-events.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { instantOf, systemClock } from '../../../shared/time.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../../shared/usage/clickhouse.ts'
import { ALL_COPIED, meterKey } from '../../../shared/usage/meter-records.ts'

const tenant: Tenant = { platformId: TEST_PLATFORM, environment: 'TEST' }
const NOW = systemClock.now()
const HOUR_MS = 3_600_000
/** More than a list here holds. Of more than this at once, and of those with more, other statements read a list. */
const limitOf = (meter: string): number => (meter === 'much' ? 5_000 : 1_000)

let clickhouse: TestClickHouse
let client: ClickHouseClient
let sink: UsageSink

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  sink = createUsageSink(client)
})
afterAll(async () => {
  await client?.close()
  await clickhouse?.drop()
})

/** What takes minutes takes seconds. */
const clock = { now: () => instantOf(NOW + (systemClock.now() - NOW) * 100) }
let number = 0

/** An aggregator, as far as it fills the table of meters. */
function aggregator(folder: string) {
  const stop = new AbortController()
  const lists = createMeterLists({ client, sink, clock, logger: silentLogger, folder, turnMs: 2 })
  let running: Promise<void> = Promise.resolve()
  return {
    copy: () => (running = lists.run(stop.signal)),
    /** Ends without copying the rest. */
    async kill() {
      stop.abort()
      await running
    },
    /** Stores so many events of a meter that were received then. */
    async store(meterReference: string, receivedAtMs: number, count = 1): Promise<string[]> {
      const seconds = new Set([Math.floor(receivedAtMs / 1_000)])
      const meters = new Set([meterKey(tenant.platformId, tenant.environment, meterReference)])
      const stored = await lists.storing(sink, { seconds, meters })
      const references = Array.from({ length: count }, () => {
        number += 1
        return `r-${number}`
      })
      const seq = number
      const lines = references.map((reference, line) => {
        const timestampMs = NOW - HOUR_MS + seq * 1_000 + line
        const { line: text } = eventLineOf({ reference, meterReference, receivedAtMs, timestampMs })
        return `${text.slice(0, -1)},0,${seq},${line},${seq},0]`
      })
      await sink.insertEvents(lines)
      stored()
      return references
    },
  }
}

const filterOf = (meterReference: string) => ({ meterReference })
const referencesOf = (events: readonly StoredEvent[]): string[] => events.map(({ reference }) => reference)
/** All of a meter, as each kind of read gives it. */
async function listed(through: ClickHouseClient, meter: string): Promise<string[][]> {
  const page = { filter: filterOf(meter), now: instantOf(NOW + HOUR_MS), limit: limitOf(meter), offset: 0 }
  const position = {
    timestamp: page.now,
    idHash: '0'.repeat(32),
    place: { partition: 0, seq: 0, line: 0 },
    duplicate: false,
  }
  const { events } = await listStoredEvents(through, tenant, page)
  const after = await readBeyond(through, tenant, {
    filter: page.filter,
    position,
    side: 'OLDER',
    limit: limitOf(meter),
  })
  return [referencesOf(events), referencesOf(after)]
}
/** `stored` is there, and nothing twice. */
function expectAll(found: readonly string[], stored: readonly string[]): void {
  const once = new Set(found)
  expect(once.size).toBe(found.length)
  expect(stored.filter(reference => !once.has(reference))).toEqual([])
}
const isCopied = async (meter: string, records: number): Promise<boolean> => {
  const [row] = await selectRows<[string]>(
    client,
    `SELECT uniqExact(id_hash) FROM usage_records_by_meter WHERE meter_reference = '${meter}'`,
  )
  return Number(row?.[0]) === records
}

// Not tried twice: a first try would leave behind that the meter is common.
test('a list that asked how much is copied finds all that was stored before, whatever happens before it reads', {
  retry: 0,
}, async () => {
  const first = aggregator('asked')
  const stored = [...(await first.store('asked', NOW - 5_000)), ...(await first.store('asked', NOW - 2 * HOUR_MS))]
  const changes: (() => Promise<unknown>)[] = [
    async () => undefined,
    // It is copied, and said to be.
    async () => {
      first.copy()
      while (!(await isCopied('asked', stored.length))) await sleep(5)
      while ((await readProgress(client)).every(({ completeBefore }) => completeBefore < NOW - HOUR_MS)) await sleep(5)
    },
    // Another one stores what was received long ago, before what was said to be whole.
    async () => await aggregator('late').store('asked', NOW - 3 * HOUR_MS),
    // It becomes a common meter. Records of common meters are not copied.
    async () => {
      const other = aggregator('much')
      await other.store('asked', NOW - 1_000, 500)
      other.copy()
      const common = `SELECT count() FROM usage_records_by_meter_progress WHERE owner = 'common/${meterKey(tenant.platformId, tenant.environment, 'asked')}'`
      while ((await selectRows<[string]>(client, common))[0]?.[0] !== '1') await sleep(5)
      await other.kill()
    },
  ]
  for (const change of changes) {
    let wasAsked = false
    const select: ClickHouseClient['select'] = async question => {
      const rows = await client.select(question)
      if (question.sql.includes('usage_records_by_meter_progress') && !wasAsked) {
        wasAsked = true
        await change()
      }
      return rows
    }
    for (const found of await listed(Object.assign(Object.create(client), { select }), 'asked'))
      expectAll(found, stored)
    expect(wasAsked).toBe(true)
    for (const found of await listed(client, 'asked')) expectAll(found, stored)
  }
  await first.kill()
})

test('while two aggregators store, copy and are killed, lists hold every record once', async () => {
  const meters = ['some', 'few', 'much', 'once']
  const stored = new Map<string, string[]>(meters.map(meter => [meter, []]))
  let isOver = false
  const storing = ['one', 'two'].map(async folder => {
    for (let life = 0; life < 3; life += 1) {
      const running = aggregator(folder)
      running.copy()
      const store = async (meter: string, receivedAt: number): Promise<void> => {
        stored.get(meter)?.push(...(await running.store(meter, receivedAt, meter === 'much' ? 150 : 2)))
      }
      await store('once', clock.now())
      for (let turn = 0; turn < 12; turn += 1)
        await store(meters[turn % 3] ?? '', turn % 5 === 4 ? clock.now() - 2 * HOUR_MS : clock.now())
      await running.kill()
    }
  })
  const reading = meters.map(async meter => {
    while (!isOver) {
      const before = [...(stored.get(meter) ?? [])]
      for (const found of await listed(client, meter)) expectAll(found, before)
      expect(await countStoredEvents(client, tenant, filterOf(meter))).toBeGreaterThanOrEqual(before.length)
    }
  })
  await Promise.all(storing).finally(() => {
    isOver = true
  })
  await Promise.all(reading)
  // Both are started again, copy what was left, and have nothing to store for minutes.
  const last = ['one', 'two'].map(aggregator)
  for (const each of last) each.copy()
  const isLeft = async () => (await readProgress(client)).some(({ completeBefore }) => completeBefore !== ALL_COPIED)
  while (await isLeft()) await sleep(20)
  for (const each of last) await each.kill()
  for (const meter of meters) {
    const all = stored.get(meter) ?? []
    for (const found of await listed(client, meter)) expect(found.toSorted()).toEqual(all.toSorted())
    expect(await countStoredEvents(client, tenant, filterOf(meter))).toBe(all.length)
  }
}, 120_000)
