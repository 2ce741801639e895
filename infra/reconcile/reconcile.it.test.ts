// Reconciliation on a real log, index and ClickHouse: nothing is wrong with what the product stored, and every damage done
// to it by hand is found and named.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Aggregator } from '../../aggregator/aggregator.ts'
import { openFirstSeenIndex } from '../../aggregator/index/first-seen-index.ts'
import { readIndex } from '../../aggregator/index/read-index.ts'
import { sortedRecords } from '../../aggregator/index/record.ts'
import type { Claim } from '../../aggregator/outcome.ts'
import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../aggregator/rollups/roll-days.ts'
import {
  createTestAggregator,
  deleteLineOf,
  eventLineOf,
  hashOf,
  TEST_TIME_MS,
  type TestAggregator,
  type TestEvent,
} from '../../aggregator/testing.ts'
import { partitionOf } from '../../shared/contracts/usage-event.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { startTestNats, type TestNats } from '../../shared/testing/nats.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { nodeArgs } from '../services/project.ts'
import { createFindings, type Difference } from './findings.ts'
import { type Reconciliation, reconcileInstallation } from './reconcile.ts'
import { compareRollups } from './rollups-against-rows.ts'

const HOUR_MS = 3_600_000
const EVENTS = 200
/** Each is a series whose roll-ups are compared, at its price. */
const CUSTOMERS = 3

let postgres: TestDatabase
let nats: TestNats
let clickhouse: TestClickHouse
let aggregator: TestAggregator
let running: Aggregator

const event = (number: number): TestEvent => ({
  reference: `r-${number}`,
  customerKey: `customer-${number % CUSTOMERS}`,
  timestampMs: TEST_TIME_MS + (number % 7) * HOUR_MS,
  quantity: `${number}.500`,
  properties: { model: `m-${number % 3}` },
})
type Report = Omit<Reconciliation, 'findings'> & {
  readonly code: number
  readonly differences: readonly { kind: Difference; count: number; examples: readonly string[] }[]
}
/** The command as an operator runs it, in a process of its own beside the aggregator. */
async function runCommand(waitSeconds = 20): Promise<Report> {
  const options = ['--json', '--all', '--index', aggregator.indexDirectory, '--wait', String(waitSeconds)]
  const env = {
    ...process.env,
    // The test runner has one of its own.
    BASE_URL: '',
    DATABASE_URL: loginOf(postgres.url, 'millrace_worker'),
    NATS_URL: nats.url,
    CLICKHOUSE_URL: clickhouse.url,
    CLICKHOUSE_DATABASE: clickhouse.database,
    PARTITIONS: String(aggregator.partitions),
  }
  const child = spawn(process.execPath, [...nodeArgs('infra/reconcile/main'), ...options], { env })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (child.exitCode === null) await once(child, 'exit')
  if (child.exitCode !== 0 && child.exitCode !== 1) throw new Error(errors)
  return { code: child.exitCode, ...(JSON.parse(output) as Omit<Report, 'code'>) }
}
type Bounds = { readonly waitMs?: number; readonly seriesMax?: number | null }
/** Where roll-ups are not the subject: to narrow down what differs in them since earlier tests takes seconds. */
const FEW_SERIES: Bounds = { seriesMax: 1 }

/** What the command does, in this process. */
async function reconcile({ waitMs = 20_000, seriesMax = null }: Bounds = {}): Promise<Omit<Report, 'code'>> {
  const { findings, ...result } = await reconcileInstallation({
    databaseUrl: loginOf(postgres.url, 'millrace_worker'),
    natsUrl: nats.url,
    clickhouseUrl: clickhouse.url,
    clickhouseDatabase: clickhouse.database,
    partitions: aggregator.partitions,
    indexFolder: aggregator.indexDirectory,
    waitMs,
    seriesMax,
    log: () => undefined,
  })
  const differences = [...findings.counts].map(([kind, count]) => ({ kind, count, examples: findings.examples(kind) }))
  return { ...result, differences }
}
/** What it finds now that it never found before. */
const known = new Map<Difference, readonly string[]>()
async function newFindings(bounds?: Bounds): Promise<Partial<Record<Difference, readonly string[]>>> {
  const { differences } = await reconcile(bounds)
  expect(differences).not.toEqual([])
  const now = new Map(differences.map(({ kind, examples }) => [kind, examples]))
  const fresh = [...now].map(([kind, all]) => [kind, all.filter(each => !known.get(kind)?.includes(each))] as const)
  for (const [kind, all] of now) known.set(kind, [...(known.get(kind) ?? []), ...all])
  return Object.fromEntries(fresh.filter(([, all]) => all.length > 0))
}
const sql = async (query: string): Promise<void> => {
  await aggregator.client.command({ query, clickhouse_settings: { mutations_sync: '2' } })
}
const placeIn = async (table: string, reference: string): Promise<string> => {
  const [row] = await aggregator.rows<[number, string, number]>(
    `SELECT log_partition, log_seq, log_line FROM ${table} WHERE reference = '${reference}' LIMIT 1`,
  )
  return `partition ${row?.[0]}, message ${row?.[1]}, line ${row?.[2]}`
}

beforeAll(async () => {
  postgres = await createTestDatabase()
  nats = await startTestNats()
  clickhouse = await createTestClickHouse()
  aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
  running = await aggregator.start()
  const all = Array.from({ length: EVENTS }, (_, number) => eventLineOf(event(number)))
  for (let from = 0; from < EVENTS; from += 25) await aggregator.publish(all.slice(from, from + 25))
  await aggregator.publish([
    ...all.slice(0, 30),
    eventLineOf({ ...event(1), quantity: '7' }),
    deleteLineOf(event(8)),
    deleteLineOf({ reference: 'never-seen' }),
    { line: 'no record', idHash: hashOf(event(9)) },
  ])
  await aggregator.settle()
  await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 1_000))
  await rollDays(aggregator.client, await findStaleDays(aggregator.client, 1_000))
  await restart()
})
afterAll(async () => {
  await running?.stop()
  await aggregator?.close()
  await postgres?.drop()
  await clickhouse?.drop()
  await nats?.stop()
})

test('what the product stored adds up: log = kept + duplicates + refused + control, index = raw, roll-ups = raw', async () => {
  const result = await runCommand()
  expect(result).toMatchObject({ code: 0, differences: [] })
  const sum = (of: 'records' | 'kept' | 'duplicates' | 'refused' | 'control') =>
    result.partitions.reduce((total, { counts }) => total + counts[of], 0)
  const counts = { kept: sum('kept'), duplicates: sum('duplicates'), refused: sum('refused'), control: sum('control') }
  expect(counts).toEqual({ kept: EVENTS, duplicates: 31, refused: 2, control: 1 })
  expect(sum('records')).toBe(EVENTS + 34)
  for (const { indexes } of result.partitions) {
    expect(indexes).toHaveLength(1)
    for (const { claims, rows } of indexes) expect(claims).toBe(rows)
  }
  expect(result.rollups).toMatchObject({ series: CUSTOMERS, unsettled: 0 })
  expect(result.rollups.queries).toBe(CUSTOMERS * 4)
})

test('it may run while events come in', async () => {
  const more = Array.from({ length: 400 }, (_, number) => eventLineOf(event(1_000 + number)))
  const publishing = (async () => {
    for (let from = 0; from < more.length; from += 10) await aggregator.publish(more.slice(from, from + 10))
  })()
  expect(await reconcile()).toMatchObject({ differences: [] })
  await publishing
  await aggregator.settle()
  await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 1_000))
  await rollDays(aggregator.client, await findStaleDays(aggregator.client, 1_000))
  // And forgets which buckets it would recompute: what is damaged below stays as it is.
  await restart()
  expect(await reconcile()).toMatchObject({ differences: [] })
})

describe('damage done by hand is found and named', () => {
  test('a raw row that is gone', async () => {
    const where = await placeIn('usage_events', 'r-21')
    await sql(`ALTER TABLE usage_events DELETE WHERE reference = 'r-21'`)
    const found = await newFindings()
    // Its reference stands in the log twice, and the second copy is kept as the duplicate that it is.
    expect(found.NOT_STORED).toEqual([`${where}: reference "r-21"`])
    expect(found.NOT_IN_ROWS).toEqual([expect.stringContaining(`meda_${hashOf(event(21))}`)])
    // SUM and what else the row changed, in its hour: r-21 is of customer-0 and the first hour.
    expect(found.ROLLUP_DIFFERS).toContainEqual(expect.stringMatching(/customer-0.*SUM of "tokens", 2026-01-15T10:00/))
  })
  test('a raw row that was never sent', async () => {
    const hash = hashOf({ reference: 'forged' })
    await sql(
      `INSERT INTO usage_events SELECT * REPLACE ('${hash}' AS id_hash, 'forged' AS reference, log_line + 900 AS log_line)
       FROM (SELECT * FROM usage_events WHERE reference = 'r-40')`,
    )
    const found = await newFindings()
    expect(found.NOT_IN_LOG).toEqual([`${await placeIn('usage_events', 'forged')}: reference "forged" in usage_events`])
    expect(found.NOT_IN_INDEX).toEqual([expect.stringContaining(`meda_${hash}`)])
    expect(found.ROLLUP_DIFFERS).toBeDefined()
  })
  test('a raw row from beyond the end of the log, a duplicate that counts and one that is gone, a lost dead letter, a deletion undone', async () => {
    await sql(
      `INSERT INTO usage_events SELECT * REPLACE ('${hashOf({ reference: 'beyond' })}' AS id_hash, 'beyond' AS reference,
       log_seq + 1000000 AS log_seq) FROM (SELECT * FROM usage_events WHERE reference = 'r-41')`,
    )
    const gone = await placeIn('usage_duplicates', 'r-2')
    await sql(`ALTER TABLE usage_duplicates DELETE WHERE reference = 'r-2'`)
    await sql(
      `INSERT INTO usage_duplicates SELECT * EXCEPT (version, deleted), log_seq, log_line, 0 FROM usage_events WHERE reference = 'r-43'`,
    )
    await sql(`ALTER TABLE usage_dead_letters DELETE WHERE reason = 'NOT_A_RECORD'`)
    await sql(`ALTER TABLE usage_events DELETE WHERE reference = 'r-8' AND deleted = 1`)
    const found = await newFindings(FEW_SERIES)
    expect(found.NOT_IN_LOG).toEqual([expect.stringContaining('"beyond" in usage_events')])
    // And the row of r-8 itself, whose copies were one by then.
    expect(found.NOT_STORED?.filter(each => !each.includes('"r-8"'))).toHaveLength(2)
    expect(found.NOT_STORED).toContain(`${gone}: reference "r-2"`)
    expect(found.NOT_STORED).toContainEqual(expect.stringContaining('NOT_A_RECORD, and no dead letter'))
    expect(found.STORED_TWICE).toEqual([`${await placeIn('usage_events', 'r-43')}: reference "r-43"`])
    expect(found.NOT_APPLIED).toEqual([expect.stringContaining(`delete of event meda_${hashOf(event(8))}`)])
  })
  test('a raw row whose value was changed', async () => {
    await sql(`ALTER TABLE usage_events UPDATE value_quantities = [1000] WHERE reference = 'r-46'`)
    const found = await newFindings()
    expect(found.OTHER_CONTENT).toEqual([`${await placeIn('usage_events', 'r-46')}: reference "r-46"`])
    expect(found.ROLLUP_DIFFERS).toBeDefined()
  })
  test('a roll-up with a wrong sum, down to its hour', async () => {
    await sql(
      `INSERT INTO usage_rollups_by_grain SELECT * REPLACE (arrayMap(list -> arrayMap(sum -> sum + 1, list), sums) AS sums, version + 1 AS version)
       FROM (SELECT * FROM usage_rollups_by_grain FINAL WHERE customer_key = 'customer-2')`,
    )
    const found = await newFindings()
    expect(found.ROLLUP_DIFFERS).toContainEqual(
      expect.stringMatching(/"customer-2".*SUM of "tokens", 2026-01-15T10:00:00.000Z to 2026-01-15T11/),
    )
  })
  test('an index that forgot a reference', async () => {
    await running.stop()
    const hash = hashOf(event(44))
    await forget(hash)
    running = await aggregator.start()
    expect((await newFindings(FEW_SERIES)).NOT_IN_INDEX).toEqual([expect.stringContaining(`meda_${hash}`)])
  })
  test('an index that is not there is said, and is no difference', async () => {
    await running.stop()
    rmSync(aggregator.indexDirectory, { recursive: true })
    const { code, partitions, differences } = await runCommand()
    expect(code).toBe(1)
    expect(partitions.flatMap(({ indexes }) => indexes)).toEqual([])
    expect(differences.map(({ kind }) => kind)).not.toContain('NOT_IN_ROWS')
    running = await aggregator.start()
  })
  test('an entry of a wallet that its accounts do not have', async () => {
    const owner = new pg.Client({ connectionString: postgres.url })
    await owner.connect()
    // Past triggers and foreign keys, as only somebody can who owns the database.
    await owner.query(`set session_replication_role = replica;
      insert into wallet_entries (platform_id, environment, id, created_at, wallet_id, grant_id, type, debit_account, credit_account,
        quantity, effective_at, cause_type)
      values ('plat_x', 'LIVE', 'went_x', now(), 'wall_x', 'wgra_x', 'GRANTED', 'FUNDING', 'OPEN', 5, now(), 'REQUEST')`)
    await owner.end()
    expect(await newFindings(FEW_SERIES)).toEqual({
      WALLET_DIFFERS: [
        'plat_x LIVE grant wgra_x FUNDING: 0, and its entries add up to -5',
        'plat_x LIVE grant wgra_x OPEN: 0, and its entries add up to 5',
      ],
    })
  })

  test('what was accepted and is not stored in time', async () => {
    await running.stop()
    await aggregator.publish([eventLineOf({ reference: 'late' })])
    const found = await newFindings({ ...FEW_SERIES, waitMs: 1_000 })
    expect(found.BEHIND).toEqual([expect.stringMatching(/^partition [0-9]: stored up to [0-9]+ of [0-9]+ messages$/)])
    running = await aggregator.start()
  })
  test('what is missing comes back when the positions are deleted, as the runbook says', async () => {
    await running.stop()
    await sql('ALTER TABLE usage_positions DELETE WHERE 1')
    running = await aggregator.start()
    const { differences } = await reconcile(FEW_SERIES)
    const left = new Set(differences.map(({ kind }) => kind))
    for (const repaired of ['NOT_STORED', 'NOT_APPLIED', 'NOT_IN_ROWS', 'BEHIND'] as const)
      expect(left).not.toContain(repaired)
    // Rows that nobody sent are not the log's to remove.
    expect(left).toContain('NOT_IN_LOG')
  })
  test('one roll-up of many series, whichever tenant it is of', async () => {
    // More than are compared by one statement, and a second tenant with customers of the same names.
    const tenants = [
      { platformId: 'plat_0000000000000000000002', environment: 'LIVE' },
      { platformId: 'plat_0000000000000000000002', environment: 'TEST' },
    ] as const
    const lines = tenants.flatMap(tenant =>
      Array.from({ length: 60 }, (_, number) => {
        const reference = `many-${tenant.environment}-${number}`
        return eventLineOf({ ...event(number), ...tenant, reference, customerKey: `many-${number}` })
      }),
    )
    await aggregator.publish(lines)
    await aggregator.settle()
    await rollBuckets(aggregator.client, await findStaleBuckets(aggregator.client, 1_000))
    await sql(
      `INSERT INTO usage_rollups_by_grain SELECT * REPLACE (arrayMap(list -> arrayMap(sum -> sum + 1, list), sums) AS sums, version + 1 AS version)
       FROM (SELECT * FROM usage_rollups_by_grain FINAL WHERE customer_key = 'many-57' AND environment = 'LIVE')`,
    )
    const findings = createFindings()
    const { series } = await compareRollups(aggregator.client, { oneIn: 1, seed: 1 }, findings)
    expect(series).toBe(2 * 60 + CUSTOMERS)
    const found = findings.examples('ROLLUP_DIFFERS').filter(each => each.includes('many-'))
    expect(found).toEqual([
      expect.stringMatching(/^plat_0{21}2 LIVE, customer "many-57", .* SUM of "tokens", 2026-01-15T11/),
    ])
  })
})

/** Takes one claim out of its partition's index, which nobody has open. */
async function forget(idHash: string): Promise<void> {
  const directory = join(aggregator.indexDirectory, `partition-${partitionOf(idHash, aggregator.partitions)}`)
  const snapshot = await readIndex(directory)
  if (snapshot === null) throw new Error(`there is no index in ${directory}`)
  const claims: Claim[] = []
  for await (const piece of snapshot.claims()) claims.push(...piece)
  await snapshot.close()
  const left = claims.filter(claim => claim.idHash !== idHash)
  expect(left).toHaveLength(claims.length - 1)
  const index = await openFirstSeenIndex(directory)
  await index.replaceBy([sortedRecords(left, left.length)], left.length, snapshot.position)
  await index.close()
}
/** An index on the disk is behind by seconds; one that was closed is not. */
async function restart(): Promise<void> {
  await running.stop()
  running = await aggregator.start()
}
