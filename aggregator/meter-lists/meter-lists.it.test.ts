// The table of meters as ClickHouse has it: what is copied, and by whom when an aggregator has stopped.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EVENT_FIELDS } from '../../shared/contracts/usage-event.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { ALL_COPIED, meterKey } from '../../shared/usage/meter-records.ts'
import { statementsOf } from '../clickhouse/migrate.ts'
import { createUsageSink, type UsageSink } from '../sinks/usage-sink.ts'
import { amendmentVersion, eventRow } from '../steps/rows.ts'
import { eventLineOf, hashOf, TEST_PLATFORM } from '../testing.ts'
import { createMeterLists } from './meter-lists.ts'
import { METERS_MAX } from './recent-meters.ts'
import { copyRecords, type Progress, readProgress } from './statements.ts'

const NOW = Date.UTC(2026, 2, 1, 12)
const MINUTE = 60_000

let clickhouse: TestClickHouse
let client: ClickHouseClient
let sink: UsageSink
let clock: { now: () => Instant }
let now = NOW

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  sink = createUsageSink(client)
  clock = { now: () => instantOf(now) }
})
afterAll(async () => {
  await client?.close()
  await clickhouse?.drop()
})

let seq = 0
/** Stores an event that was received then. */
async function store(meterReference: string, receivedAtMs: number): Promise<void> {
  seq += 1
  const { line, idHash } = eventLineOf({ reference: `r-${seq}`, meterReference, receivedAtMs, timestampMs: NOW - 500 })
  await sink.insertEvents([eventRow(0, { text: line, idHash, seq, line: 0 } as Parameters<typeof eventRow>[1])])
}
const copied = async (): Promise<string[]> =>
  (
    await selectRows<[string]>(
      client,
      `SELECT meter_reference FROM usage_records_by_meter FINAL
       WHERE platform_id = '${TEST_PLATFORM}' AND environment = 'TEST' ORDER BY meter_reference`,
    )
  ).map(([meter]) => meter)

/** A process over this folder that copies what it finds and is stopped; `begin` is called before it copies. */
async function copyOnce(folder: string, begin: (lists: ReturnType<typeof createMeterLists>) => Promise<void>) {
  const stop = new AbortController()
  const lists = createMeterLists({ client, sink, clock, logger: silentLogger, folder, turnMs: 5 })
  await begin(lists)
  const running = lists.run(stop.signal)
  return {
    async until(done: () => Promise<boolean>) {
      while (!(await done())) await new Promise(resolve => setTimeout(resolve, 5))
      stop.abort()
      await running
    },
  }
}
const owners = async (): Promise<Progress[]> => await readProgress(client)
/** Records of one meter that were received then. */
const of = (meter: string, receivedAtMs: number) => ({
  seconds: new Set([receivedAtMs / 1_000]),
  meters: new Set([meterKey(TEST_PLATFORM, 'TEST', meter)]),
})

test('what is stored is copied, and then said to be there; what is being stored is not said to be', async () => {
  const lists = await copyOnce('one', async begun => {
    const stored = await begun.storing(sink, of('first', NOW))
    expect((await owners()).map(({ completeBefore }) => completeBefore)).toEqual([NOW - 30_000])
    await begun.storing(sink, of('second', NOW - 20 * MINUTE))
    expect((await owners()).map(({ completeBefore }) => completeBefore)).toEqual([NOW - 20 * MINUTE])
    await store('first', NOW + 400)
    stored()
  })
  await lists.until(async () => (await copied()).includes('first'))
  expect(await owners()).toMatchObject([
    { owner: expect.stringMatching(/^one\//), completeBefore: NOW - 20 * MINUTE, publishedAt: NOW },
  ])
})

test('what a process left is copied by the next over its folder, and at once', async () => {
  await store('left', NOW - 20 * MINUTE)
  const lists = await copyOnce('one', async () => undefined)
  await lists.until(async () => (await owners()).some(({ completeBefore }) => completeBefore === ALL_COPIED))
  expect(await copied()).toEqual(['first', 'left'])
  expect((await owners()).map(({ completeBefore }) => completeBefore)).toEqual([ALL_COPIED, ALL_COPIED])
})

test('what another left is copied once it has said nothing for a quarter of an hour', async () => {
  const other = { owner: 'two/gone', completeBefore: NOW - 300 * MINUTE, publishedAt: NOW, version: NOW, meters: [] }
  await sink.insertProgress([other])
  await store('of another', NOW - 299 * MINUTE)
  now = NOW + 14 * MINUTE
  const early = await copyOnce('one', async begun => {
    ;(await begun.storing(sink, of('first', now)))()
  })
  await early.until(async () => (await owners()).some(({ publishedAt }) => publishedAt === now))
  expect(await copied()).toEqual(['first', 'left'])
  now = NOW + 15 * MINUTE
  const late = await copyOnce('one', async () => undefined)
  await late.until(async () =>
    (await owners()).some(({ owner, completeBefore }) => owner === other.owner && completeBefore === ALL_COPIED),
  )
  expect(await copied()).toEqual(['first', 'left', 'of another'])
  // Where it was only asleep, it says so again before it stores anything.
  await sink.insertProgress([{ ...other, version: other.version + 2 }])
  expect((await owners()).find(({ owner }) => owner === other.owner)).toMatchObject({
    completeBefore: NOW - 300 * MINUTE,
  })
})

test('a process names the meters of what it stores, as many as it can, and none where nothing came for minutes', async () => {
  const [meter, more] = [of('named', NOW), of('another', NOW)]
  now = NOW
  const owned = async () => (await owners()).filter(({ owner }) => owner.startsWith('three/'))
  const many = Array.from({ length: METERS_MAX }, (_, number) => `m-${number}`)
  const lists = await copyOnce('three', async begun => {
    ;(await begun.storing(sink, meter))()
    expect(await owned()).toMatchObject([{ meters: [...meter.meters], completeBefore: NOW - 30_000 }])
    ;(await begun.storing(sink, { ...meter, meters: new Set([...more.meters, ...many]) }))()
    expect(await owned()).toMatchObject([{ meters: [], completeBefore: NOW - 30_000 }])
    ;(await begun.storing(sink, more))()
    now = NOW + 6 * MINUTE
  })
  await lists.until(async () => (await owned()).every(({ completeBefore }) => completeBefore === ALL_COPIED))
  expect(await owned()).toMatchObject([{ meters: [] }])
})

/** So many records of a meter, by SQL; `changed` of them are deleted. */
const fill = (meter: string, records: number, receivedAtMs: number, changed = 0): Promise<unknown> =>
  client.command({
    query: `INSERT INTO usage_records_by_time
        (platform_id, environment, timestamp, id_hash, repeat, customer_key, meter_reference, received_at, content, version, deleted)
      SELECT '${TEST_PLATFORM}', 'LIVE', fromUnixTimestamp64Milli(${NOW} - number, 'UTC'), lower(hex(sipHash128(number, '${meter}'))), 0, 'c',
        '${meter}', fromUnixTimestamp64Milli(${receivedAtMs}, 'UTC'), 'whole', if(number < ${changed}, bitShiftLeft(toUInt64(1), 62), 1),
        number < ${changed} FROM numbers(${records})`,
  })
const inTable = async (): Promise<unknown[]> =>
  await selectRows(
    client,
    `SELECT meter_reference, toString(count()), toString(sum(deleted)), toString(countIf(content = 'whole')) FROM usage_records_by_meter FINAL
     WHERE environment = 'LIVE' GROUP BY meter_reference ORDER BY meter_reference`,
  )
const common = async (): Promise<unknown[]> =>
  await selectRows(
    client,
    `SELECT substring(owner, length('common/${TEST_PLATFORM}/LIVE/') + 1), meters[1] = substring(owner, length('common/') + 1), complete_before
     FROM usage_records_by_meter_progress FINAL WHERE startsWith(owner, 'common/') ORDER BY owner`,
  )
const ALWAYS = '1970-01-01 00:00:00.000'

test('of the meters with most records not all are copied, and that is said for ever', async () => {
  const second = NOW / 1_000 + 9_000
  await fill('much', 2_000, second * 1_000)
  await fill('half', 150, second * 1_000)
  await fill('little', 60, second * 1_000)
  await copyRecords(client, [{ from: second, before: second + 1 }])
  // A tenth of them are 221.
  expect(await inTable()).toEqual([
    ['half', '150', '0', '150'],
    ['little', '60', '0', '60'],
  ])
  expect(await common()).toEqual([['much', 1, ALWAYS]])
  await fill('much', 1, (second + 1) * 1_000)
  await fill('half', 220, (second + 1) * 1_000)
  await copyRecords(client, [{ from: second + 1, before: second + 2 }])
  expect(await common()).toEqual([
    ['half', 1, ALWAYS],
    ['much', 1, ALWAYS],
  ])
})

test('a database that has events gets its table of meters by the migration', async () => {
  for (const name of ['usage_records_by_meter', 'usage_records_by_meter_progress'])
    await client.command({ query: `DROP TABLE ${name} SYNC` })
  await client.command({ query: `TRUNCATE TABLE usage_records_by_time` })
  await fill('much', 101_000, NOW)
  await fill('little', 50, NOW, 7)
  for (const name of ['0012_records_by_meter', '0013_open_meters', '0013_open_meters']) {
    const sql = await readFile(new URL(`../clickhouse/migrations/${name}.sql`, import.meta.url), 'utf8')
    for (const statement of statementsOf(sql)) await client.command({ query: statement })
  }
  expect(await inTable()).toEqual([['little', '50', '7', '50']])
  expect(await common()).toEqual([['much', 1, ALWAYS]])
  expect(await owners()).toMatchObject([{ owner: 'migration', publishedAt: 0, meters: [] }])
  expect((await owners())[0]?.completeBefore).toBeLessThan(Date.now() - 86_000_000)
})

test('an event that was changed or deleted is there as it is now, also when its record is copied again', async () => {
  const at = NOW - 40 * MINUTE
  const second = { from: at / 1_000, before: at / 1_000 + 1 }
  for (const meter of ['kept', 'amended', 'removed']) await store(meter, at)
  const named = (place: number) => {
    const idHash = hashOf({ reference: `r-${place}` })
    return { platformId: TEST_PLATFORM, environment: 'TEST' as const, idHash }
  }
  const [amended, removed] = [named(seq - 1), named(seq)]
  await copyRecords(client, [second])
  const row = (await sink.findEvents([amended])).get(amended.idHash)
  if (!row) throw new Error('it is stored')
  const quantities = EVENT_FIELDS.indexOf('value_quantities')
  const fields = row.fields.map((field, index) => (index === quantities ? ['77'] : field))
  const { partition, seq: place, line } = row.place
  const version = amendmentVersion({ seq: 500, line: 0 }).toString()
  await sink.insertEvents([JSON.stringify([...fields, partition, place, line, version, 0])])
  await sink.deleteEvents([{ ...removed, seq: 501, line: 0 }])
  await sink.copyChanged([amended, removed, named(seq - 2)])
  await copyRecords(client, [second])
  const records = (table: string): Promise<unknown[][]> =>
    selectRows(
      client,
      `SELECT meter_reference, deleted, received_at, id_hash, customer_key, content FROM ${table} FINAL
       WHERE received_at = fromUnixTimestamp64Milli(${at}, 'UTC') ORDER BY meter_reference`,
    )
  const byMeter = await records('usage_records_by_meter')
  expect(byMeter.map(([meter, deleted]) => [meter, deleted])).toEqual([
    ['amended', 0],
    ['kept', 0],
    ['removed', 1],
  ])
  expect(byMeter[0]?.at(-1)).toContain('77')
  expect(await records('usage_records_by_time')).toEqual(byMeter)
})
