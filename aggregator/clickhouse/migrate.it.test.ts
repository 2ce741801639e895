import { afterAll, beforeAll, expect, test } from 'vitest'
import { EVENT_FIELDS } from '../../shared/contracts/usage-event.ts'
import { createTestClickHouse, type TestClickHouse } from '../../shared/testing/clickhouse.ts'
import { uniqueName } from '../../shared/testing/names.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { migrateClickHouse } from './migrate.ts'

let server: TestClickHouse
let client: ClickHouseClient
beforeAll(async () => {
  server = await createTestClickHouse()
  client = createClickHouse(server.url, server.database)
})
afterAll(async () => {
  await client.close()
  await server.drop()
})

const tables = `SELECT name, replaceAll(create_table_query, concat(database, '.'), '') FROM system.tables
  WHERE database = currentDatabase() ORDER BY name`

test('the database of a test has the tables that the migrations make, and knows them', async () => {
  const database = uniqueName()
  await migrateClickHouse(server.url, database)
  const migrated = createClickHouse(server.url, database)
  const applied = 'SELECT name, sha256 FROM schema_migrations ORDER BY name'
  for (const query of [tables, applied]) {
    const rows = await selectRows(migrated, query)
    expect(rows.length).toBeGreaterThan(5)
    expect(await selectRows(client, query)).toEqual(rows)
  }
  await migrated.command({ query: `DROP DATABASE ${database}` })
  await migrated.close()
})

test('runs again, and beside itself, without changing anything', async () => {
  const before = await selectRows(client, tables)
  await Promise.all([migrateClickHouse(server.url, server.database), migrateClickHouse(server.url, server.database)])
  expect(await selectRows(client, tables)).toEqual(before)
})

test('roll-ups of an earlier version are copied, also by a run after one that ended half-way', async () => {
  const database = uniqueName()
  await migrateClickHouse(server.url, database)
  const migrated = createClickHouse(server.url, database)
  // As before the file.
  const file = '0014_rollups_by_grain.sql'
  for (const query of [
    `ALTER TABLE schema_migrations DELETE WHERE name = '${file}' SETTINGS mutations_sync = 1`,
    `INSERT INTO usage_rollups (platform_id, environment, customer_key, grain, version) VALUES ('plat_a', 'LIVE', 'a', 'DAY', 3)`,
    // What was copied already.
    'INSERT INTO usage_rollups_by_grain SELECT * FROM usage_rollups',
  ])
    await migrated.command({ query })
  await migrateClickHouse(server.url, database)
  const rows = await selectRows(migrated, 'SELECT customer_key, grain, version FROM usage_rollups_by_grain FINAL')
  expect(rows).toEqual([['a', 'DAY', '3']])
  expect(await selectRows(migrated, 'SELECT count() FROM usage_rollups')).toEqual([['0']])
  await migrated.command({ query: `DROP DATABASE ${database}` })
  await migrated.close()
})

test('usage_events and usage_duplicates begin with the fields of the wire format, in order', async () => {
  for (const table of ['usage_events', 'usage_duplicates']) {
    const columns = await selectRows<[string]>(
      client,
      'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
      { table },
    )
    expect(columns.map(([name]) => name).slice(0, EVENT_FIELDS.length)).toEqual([...EVENT_FIELDS])
  }
})

test('refuses a migration that was edited after it was applied', async () => {
  await client.command({ query: `INSERT INTO schema_migrations (name, sha256) VALUES ('0001_usage.sql', 'other')` })
  await expect(migrateClickHouse(server.url, server.database)).rejects.toThrow(/0001_usage.sql was edited/)
})

test('refuses a database name that is not a plain name', async () => {
  await expect(migrateClickHouse(server.url, 'a; DROP DATABASE b')).rejects.toThrow(/not a plain name/)
})
