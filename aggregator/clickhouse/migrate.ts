// Brings a ClickHouse database to the schema of this build: numbered files, applied once each, in order.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { type ClickHouseClient, createClickHouse, insertLines, selectRows } from '../../shared/usage/clickhouse.ts'

const DIRECTORY = new URL('./migrations/', import.meta.url)
const DATABASE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations (
  name String, sha256 String, applied_at DateTime DEFAULT now()
) ENGINE = ReplacingMergeTree ORDER BY name`

/** Statements of a migration file: comments removed, one a semicolon at the end of a line. */
export const statementsOf = (sql: string): string[] =>
  sql
    .replace(/^--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map(statement => statement.trim())
    .filter(statement => statement !== '')

/**
 * Creates the database when it is missing and applies every migration that is not recorded. Safe to run again, to run at
 * the same time in two processes (every statement is idempotent) and after a kill half-way. Throws when a recorded
 * migration was edited since.
 */
export async function migrateClickHouse(url: string, database: string): Promise<void> {
  if (!DATABASE_NAME.test(database)) throw new Error(`CLICKHOUSE_DATABASE=${database} is not a plain name`)
  await withClient(url, 'default', client =>
    client.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` }).then(() => undefined),
  )
  await withClient(url, database, async client => {
    await client.command({ query: MIGRATIONS_TABLE })
    const rows = await selectRows<[string, string]>(client, 'SELECT name, sha256 FROM schema_migrations FINAL')
    const applied = new Map(rows)
    for (const name of (await readdir(DIRECTORY)).filter(file => file.endsWith('.sql')).sort()) {
      await applyMigration(client, name, applied.get(name))
    }
  })
}

async function applyMigration(client: ClickHouseClient, name: string, recorded: string | undefined): Promise<void> {
  const sql = await readFile(new URL(name, DIRECTORY), 'utf8')
  const sha256 = createHash('sha256').update(sql).digest('hex')
  if (recorded === sha256) return
  if (recorded !== undefined) throw new Error(`ClickHouse migration ${name} was edited after it was applied`)
  for (const statement of statementsOf(sql)) await client.command({ query: statement })
  const line = JSON.stringify([name, sha256])
  await insertLines(client, 'schema_migrations (name, sha256)', [line])
}

/** A migration may copy everything that is stored: a few seconds for each 100,000 events. */
const MIGRATION_MS = 24 * 3_600_000

async function withClient(url: string, database: string, work: (client: ClickHouseClient) => Promise<void>) {
  const client = createClickHouse(url, database, { commandMs: MIGRATION_MS })
  try {
    await work(client)
  } finally {
    await client.close()
  }
}
