// A backup that an earlier release made of ClickHouse, restored and migrated by this one: nothing that it holds is missing from a list, and
// what came after it is read from the log again.
import { mkdirSync, rmSync } from 'node:fs'
import { createClient } from '@clickhouse/client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { succeed } from '../../api/modules/billing/testing/billed-subscription.ts'
import { type EventsRig, ms, openEventsRig, tokensOf } from '../../bench/system-tests/single-events/rig.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { uniqueName } from '../../shared/testing/names.ts'
import { systemClock } from '../../shared/time.ts'
import { restoreStatements } from './copy-clickhouse.ts'

let clickhouse: TestClickHouse
let rig: EventsRig
beforeEach(async () => {
  clickhouse = await createTestClickHouse()
  rig = await openEventsRig({ clickhouse })
})
afterEach(() => rig?.close())

/**
 * Earlier versions, by what the later migrations are and how what they did is undone in a database that has some events. The first had no
 * table of meters; the second named common meters in a table of their own.
 */
const EARLIER: Readonly<
  Record<string, { readonly later: readonly string[]; readonly undo: (database: string) => string[] }>
> = {
  'lists of a meter had a table of their own': {
    later: ['0012_records_by_meter.sql', '0013_open_meters.sql'],
    undo: database => [
      `DROP TABLE ${database}.usage_records_by_meter SYNC`,
      `DROP TABLE ${database}.usage_records_by_meter_progress SYNC`,
    ],
  },
  'aggregators named the meters of which records may be missing': {
    later: ['0013_open_meters.sql'],
    undo: database => [
      `ALTER TABLE ${database}.usage_records_by_meter_progress DROP COLUMN meters SETTINGS mutations_sync = 2`,
      `CREATE TABLE ${database}.usage_common_meters (platform_id LowCardinality(String), environment LowCardinality(String), meter_reference String)
       ENGINE = ReplacingMergeTree ORDER BY (platform_id, environment, meter_reference)`,
      `INSERT INTO ${database}.usage_common_meters VALUES ('plat_other', 'LIVE', 'much')`,
    ],
  },
}
/** As that release took it. */
const backupStatements = (database: string, name: string): string[] => [
  `BACKUP TABLE ${database}.usage_positions TO File('${name}/positions')`,
  `BACKUP DATABASE ${database} EXCEPT TABLES ${database}.usage_positions TO File('${name}/tables')`,
]

test.each(Object.entries(EARLIER))(
  'a backup from before %s lists all events of the meter',
  async (_what, { later: newer, undo }) => {
    const { database } = clickhouse
    const server = createClient({ url: clickhouse.url })
    const run = async (statements: readonly string[]): Promise<void> => {
      for (const query of statements) await server.command({ query })
    }
    // Long ago, and now: lists find the one in the new table, and the other in the table that all records are in.
    const [longAgo, now] = [ms('2026-03-04T00:00:01Z'), systemClock.now()]
    const event = (day: string, receivedAtMs: number) => ({
      ...tokensOf(rig.billed, rig.reference()),
      // Those of one time are read together, wherever one of them is found.
      timestampMs: ms(`2026-03-${day}T00:00:00Z`),
      receivedAtMs,
    })
    const backedUp = [event('01', longAgo), event('02', now)]
    await rig.startAggregator()
    await rig.send(...backedUp)
    await rig.stopAggregator()
    const isEarlier = newer.map(each => `'${each}'`).join()
    await run([...undo(database), `DELETE FROM ${database}.schema_migrations WHERE name IN (${isEarlier})`])
    const name = uniqueName()
    await run(backupStatements(database, name))
    // Of the log alone: the backup does not have it.
    const later = event('03', longAgo)
    await rig.publish(later)

    await run([`DROP DATABASE ${database} SYNC`, ...restoreStatements(database, name)])
    await migrateClickHouse(clickhouse.url, database)
    const { data: meters } = await succeed(rig.tenant, 'GET', `/v1/meters?reference=${rig.billed.meterReference}`)
    const listed = async () => (await rig.references(`meter_id=${meters[0].id}`)).toSorted()
    const referencesOf = (events: readonly { reference: string }[]) => events.map(each => each.reference).toSorted()
    expect(await listed()).toEqual(referencesOf(backedUp))

    const { indexDirectory } = rig.aggregator
    rmSync(indexDirectory, { recursive: true })
    mkdirSync(indexDirectory)
    await rig.startAggregator()
    await rig.aggregator.settle()
    expect(await listed()).toEqual(referencesOf([...backedUp, later]))
    await server.close()
  },
)
