// Which of many references have been used already, whatever became of their events.
import type { Tenant } from '../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { tenantFilter } from './usage-sql.ts'

/** Asked in one statement, which reads the tenant's ids once; its text stays far below what a server takes. */
export const ID_HASHES_MAX = 10_000
const STATEMENT_BYTES_MAX = 1_048_576
const EXECUTION_SECONDS_MAX = 60

/**
 * Those of the ids that ClickHouse holds an event of, deleted ones too. What was accepted a moment ago may be missing: wait for
 * it first where that matters. Ids are our own hashes, which is why they may stand in the text of the statement.
 */
export async function findUsedIds(
  client: ClickHouseClient,
  tenant: Tenant,
  idHashes: readonly string[],
): Promise<Set<string>> {
  if (idHashes.length === 0) return new Set()
  if (idHashes.length > ID_HASHES_MAX) throw new RangeError(`at most ${ID_HASHES_MAX} ids, not ${idHashes.length}`)
  if (!idHashes.every(id => /^[0-9a-f]{32}$/.test(id))) throw new RangeError('an id hash is 32 hex digits')
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[string]>(
    client,
    `SELECT DISTINCT toString(id_hash) FROM usage_events
     WHERE ${filter.scope} AND id_hash IN (${idHashes.map(id => `'${id}'`).join(',')})
     SETTINGS max_query_size = ${STATEMENT_BYTES_MAX}, max_execution_time = ${EXECUTION_SECONDS_MAX}`,
    filter.params,
  )
  return new Set(rows.map(([id]) => id))
}
