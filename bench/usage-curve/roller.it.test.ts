// The running roller: hours once they are quiet, days once their hours are, and what it finds at its start.
import { setTimeout as sleep } from 'node:timers/promises'
import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDirtyBuckets } from '../../aggregator/rollups/dirty-buckets.ts'
import { runRoller } from '../../aggregator/rollups/roller.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import { plain } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { fillMonth, MONTH, USUAL } from './fill.ts'
import { questionsOf } from './questions.ts'

const DAY = 86_400_000
const WAIT_MS = 120_000
let clickhouse: TestClickHouse
let client: ClickHouseClient

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
})
afterAll(async () => {
  await client.close()
  await clickhouse.drop()
})

/** How many rows two whole days have of each grain, once everything is rolled up. */
const ALL_ROLLED = [
  ['DAY', '2'],
  ['DAY_TOTALS', '2'],
  ['HOUR', '48'],
  ['TOTALS', '48'],
] as const

/** Rows by grain, once they are these. */
async function grainsBecome(expected: readonly (readonly [string, string])[]): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const sql = 'SELECT toString(grain) AS name, count() FROM usage_rollups_by_grain FINAL GROUP BY name ORDER BY name'
    const found = await selectRows(client, sql)
    if (JSON.stringify(found) === JSON.stringify(expected) || performance.now() > deadline) {
      expect(found).toEqual(expected)
      return
    }
    await sleep(100)
  }
}

test('hours are recomputed when they are quiet, and days when their hours are', async () => {
  await client.command({ query: 'TRUNCATE TABLE usage_rollups_by_grain' })
  await client.command({ query: 'TRUNCATE TABLE usage_bucket_marks' })
  const month = interval(MONTH.start, instantOf(MONTH.start + 2 * DAY))
  await fillMonth(client, { customer: 'quiet', count: 960, shape: USUAL, month })
  let now = MONTH.start + 3 * DAY
  const stop = new AbortController()
  const deps = { client, dirty: createDirtyBuckets(), clock: { now: () => instantOf(now) }, logger: silentLogger }
  let rolledHours = 0
  const onRolled = (hours: number) => {
    rolledHours += hours
  }
  const roller = runRoller({ ...deps, onRolled, onRefused: () => undefined, backlog: () => false }, stop.signal)
  try {
    // What the start found counts as touched at that moment.
    while (deps.dirty.count() === 0) await sleep(50)
    now += 10_000
    await grainsBecome([
      ['HOUR', '48'],
      ['TOTALS', '48'],
    ])
    // A day is quiet from the moment its hours were reported, which is after their rows can be read.
    while (rolledHours < 48) await sleep(50)
    now += 100_000
    await grainsBecome(ALL_ROLLED)
  } finally {
    stop.abort()
    await roller
  }
  for (const [name, queries] of Object.entries(questionsOf('quiet'))) {
    const [raw, rolled] = await Promise.all([
      queryUsages(
        client,
        queries.map(query => ({ ...query, source: 'RAW' as const })),
      ),
      queryUsages(
        client,
        queries.map(query => ({ ...query, source: 'LISTED' as const })),
      ),
    ])
    const shown = (answers: typeof raw) =>
      answers.map(answer => {
        if (answer instanceof AppError) throw answer
        return answer.map(({ number, ...rest }) => ({ ...rest, number: plain(number) }))
      })
    expect(shown(rolled), name).toEqual(shown(raw))
    expect(shown(raw).flat().length, name).toBeGreaterThan(0)
  }
})

test('what one scan leaves out is found by the next, as after an upgrade that adds roll-ups', async () => {
  await client.command({
    query: `ALTER TABLE usage_rollups_by_grain DELETE WHERE grain != 'HOUR' SETTINGS mutations_sync = 1`,
  })
  const startedAt = performance.now()
  const stop = new AbortController()
  const roller = runRoller(
    {
      client,
      dirty: createDirtyBuckets(),
      // A thousand times as fast, so that what a scan finds is soon quiet.
      clock: { now: () => instantOf(MONTH.start + 4 * DAY + Math.floor((performance.now() - startedAt) * 1_000)) },
      logger: silentLogger,
      onRolled: () => undefined,
      onRefused: () => undefined,
      backlog: () => false,
      scanMax: 20,
    },
    stop.signal,
  )
  try {
    await grainsBecome(ALL_ROLLED)
  } finally {
    stop.abort()
    await roller
  }
})

/** The client, which refuses to write roll-ups of one customer while `isRefused` says so. */
function refusing(customer: string, isRefused: () => boolean): ClickHouseClient {
  const name = Buffer.from(customer).toString('hex')
  return new Proxy(client, {
    get(target, member, receiver) {
      if (member !== 'command') return Reflect.get(target, member, receiver)
      return async (statement: Parameters<ClickHouseClient['command']>[0]) => {
        if (isRefused() && statement.query.includes(name))
          throw new ClickHouseError({ message: 'too much for the memory', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' })
        return await target.command(statement)
      }
    },
  })
}

test('an hour that ClickHouse refuses to roll up holds up no other, and is rolled up when that ends', async () => {
  await client.command({ query: 'TRUNCATE TABLE usage_rollups_by_grain' })
  await client.command({ query: 'TRUNCATE TABLE usage_bucket_marks' })
  const start = instantOf(MONTH.start + 5 * DAY)
  const hour = interval(start, instantOf(start + DAY / 24))
  for (const customer of ['a good one', 'a refused one', 'another good one'])
    await fillMonth(client, { customer, count: 40, shape: USUAL, month: hour })
  let now = MONTH.start + 6 * DAY
  let isRefused = true
  let refusedTimes = 0
  const dirty = createDirtyBuckets()
  const stop = new AbortController()
  const roller = runRoller(
    {
      client: refusing('a refused one', () => isRefused),
      dirty,
      clock: { now: () => instantOf(now) },
      logger: silentLogger,
      onRolled: () => undefined,
      onRefused: count => {
        refusedTimes += count
      },
      backlog: () => false,
    },
    stop.signal,
  )
  const rolledUp = () =>
    selectRows<[string]>(
      client,
      "SELECT customer_key FROM usage_rollups_by_grain FINAL WHERE grain = 'HOUR' ORDER BY ALL",
    )
  try {
    while (dirty.count() === 0) await sleep(50)
    now += 10_000
    while ((await rolledUp()).length < 2 || refusedTimes === 0) await sleep(50)
    expect(await rolledUp()).toEqual([['a good one'], ['another good one']])
    isRefused = false
    // It rests for some minutes after it was refused.
    now += 10 * 60_000
    while ((await rolledUp()).length < 3) await sleep(50)
    expect(refusedTimes).toBe(1)
  } finally {
    stop.abort()
    await roller
  }
})
