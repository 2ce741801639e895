// Whose usage changed after some position of the log, on any meter and in any time.
import type { Tenant } from '../../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { tenantFilter } from '../usage-sql.ts'

const SETTINGS = { max_threads: '1' }

/**
 * A customer as events name it, and for each partition of the log the last position that touched its usage; 0 where none did after
 * those that were asked about.
 */
export type ChangedCustomer = { readonly key: string; readonly positions: readonly number[] }

/**
 * The customers whose usage changed after the positions in `since`. Reads the tenant's marks: there is one for each hour, name, meter and
 * partition, and an index skips granules without new ones. In a partition that `since` does not contain, every mark counts as a change.
 */
export async function changedCustomers(
  client: ClickHouseClient,
  tenant: Tenant,
  since: readonly number[],
): Promise<ChangedCustomer[]> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[key: string, partition: number, seq: string]>(
    client,
    `SELECT customer_key, log_partition, max(log_seq) FROM usage_bucket_marks WHERE ${filter.scope} AND (${behind(since)})
     GROUP BY customer_key, log_partition ORDER BY customer_key, log_partition`,
    filter.params,
    SETTINGS,
  )
  const changed: { readonly key: string; readonly positions: number[] }[] = []
  for (const [key, partition, seq] of rows) {
    if (changed.at(-1)?.key !== key) changed.push({ key, positions: since.map(() => 0) })
    const positions = changed.at(-1)?.positions ?? []
    while (positions.length < partition) positions.push(0)
    positions[partition] = Number(seq)
  }
  return changed
}

/** Partition by partition, and compared with numbers, as the index is read. */
function behind(since: readonly number[]): string {
  const each = since.map((position, partition) => {
    if (!Number.isSafeInteger(position)) throw new RangeError(`not a position: ${position}`)
    return `log_partition = ${partition} AND log_seq > ${position}`
  })
  return [...each, `log_partition >= ${since.length}`].map(condition => `(${condition})`).join(' OR ')
}
