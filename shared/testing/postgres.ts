// A PostgreSQL database for one test file, cloned from the migrated template in some tens of milliseconds.
import pg from 'pg'
import { inject } from 'vitest'
import type {} from './global-setup.ts'
import { uniqueName } from './names.ts'

export type TestDatabase = {
  /** Of a superuser, who owns it. Processes log in at `loginOf(url, role)`. */
  readonly url: string
  drop(): Promise<void>
}

async function execute(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/**
 * A database of its own with the whole schema. `kept`: the end of the run drops it if no one did before. Without a server it
 * throws: nothing is ever skipped.
 */
export async function createTestDatabase({ kept = false } = {}): Promise<TestDatabase> {
  const name = kept ? `${inject('databaseTemplate')}_${uniqueName()}` : uniqueName()
  await execute(`CREATE DATABASE ${name} TEMPLATE ${inject('databaseTemplate')} STRATEGY FILE_COPY`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}
