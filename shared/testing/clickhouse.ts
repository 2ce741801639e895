// A ClickHouse database for one test file, with the tables of the migrated template. Without a server it throws: nothing is ever skipped.
import { inject } from 'vitest'
import { dropDatabase, withClient } from './clickhouse-template.ts'
import type {} from './global-setup.ts'
import { uniqueName } from './names.ts'

export type TestClickHouse = {
  /** Server address with its credentials; pass `database` beside it. */
  readonly url: string
  readonly database: string
  drop(): Promise<void>
}

/** A database of its own, with the tables of the aggregator. */
export async function createTestClickHouse(): Promise<TestClickHouse> {
  const url = inject('clickhouseUrl')
  const template = inject('clickhouseTemplate')
  const database = uniqueName()
  await withClient(url, async client => {
    await client.command({ query: `CREATE DATABASE ${database}` })
    for (const sql of template.tables)
      await client.command({ query: sql.replaceAll(`${template.database}.`, `${database}.`) })
    const applied = `SELECT * FROM ${template.database}.schema_migrations`
    await client.command({ query: `INSERT INTO ${database}.schema_migrations ${applied}` })
  })
  return { url, database, drop: () => dropDatabase(url, database) }
}
