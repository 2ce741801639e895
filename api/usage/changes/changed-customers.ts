// Whose usage changed after some position of the log, on any meter and in any time.
import type { Tenant } from '../../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { tenantFilter } from '../usage-sql.ts'

const SETTINGS = { max_threads: '1' }

/**
 * The names of these customers; read from the marks of the tenant, of which there is one an hour, name, meter and partition. An index
 * skips granules without new marks. Of a partition that `since` does not name, every mark counts as a change.
 */
export async function changedCustomers(
  client: ClickHouseClient,
  tenant: Tenant,
  since: readonly number[],
): Promise<string[]> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[key: string]>(
    client,
    `SELECT DISTINCT customer_key FROM usage_bucket_marks WHERE ${filter.scope} AND (${behind(since)}) ORDER BY customer_key`,
    filter.params,
    SETTINGS,
  )
  return rows.map(([key]) => key)
}

/** Partition by partition, and compared with numbers, as the index is read. */
function behind(since: readonly number[]): string {
  const each = since.map((position, partition) => {
    if (!Number.isSafeInteger(position)) throw new RangeError(`not a position: ${position}`)
    return `log_partition = ${partition} AND log_seq > ${position}`
  })
  return [...each, `log_partition >= ${since.length}`].map(condition => `(${condition})`).join(' OR ')
}
