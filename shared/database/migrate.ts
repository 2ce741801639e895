// Applies the SQL migrations in order, once, under a lock. Files are never edited after they have run anywhere.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { isBoundByRowSecurity, runWithAllRows } from './hidden-rows.ts'

const DIRECTORY = new URL('./migrations/', import.meta.url)
const LOCK = 7_243_110 // any constant: one migrator at a time in one database

/** Migrates the database at `url`. Returns the names applied now. Throws when an applied file was changed since. */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query(
      'create table if not exists schema_migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
    )
    const done = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migrations')
    const applied = new Map(done.rows.map(row => [row.name, row.sha256]))
    const run = (await isBoundByRowSecurity(client)) ? runWithAllRows : runAsItIs
    const fresh: string[] = []
    for (const { name, sql, sha256 } of readMigrations()) {
      const before = applied.get(name)
      if (before === sha256) continue
      if (before !== undefined) throw new Error(`migration ${name} was changed after it had been applied`)
      await applyOne(client, { name, sql, sha256 }, run)
      fresh.push(name)
    }
    return fresh
  } finally {
    await client.end()
  }
}

type Migration = { readonly name: string; readonly sql: string; readonly sha256: string }

const runAsItIs = async (client: pg.Client, sql: string): Promise<void> => {
  await client.query(sql)
}

function readMigrations(): Migration[] {
  return readdirSync(fileURLToPath(DIRECTORY))
    .filter(name => name.endsWith('.sql'))
    .sort()
    .map(name => {
      const sql = readFileSync(new URL(name, DIRECTORY), 'utf8')
      return { name, sql, sha256: hash('sha256', sql, 'hex') }
    })
}

async function applyOne(client: pg.Client, { name, sql, sha256 }: Migration, run: typeof runAsItIs): Promise<void> {
  await client.query('begin')
  try {
    await run(client, sql)
    await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed`, { cause: error })
  }
}
