// A fresh, migrated ClickHouse database for one test file. Without a server it throws: nothing is ever skipped.
import { createClient } from '@clickhouse/client'
import { inject } from 'vitest'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
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
  const database = uniqueName()
  await migrateClickHouse(url, database)
  return {
    url,
    database,
    drop: async () => {
      const client = createClient({ url })
      await client.command({ query: `DROP DATABASE IF EXISTS ${database}` })
      await client.close()
    },
  }
}
