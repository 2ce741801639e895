// Whose usage was touched after some position of the log, on any meter and in any time.
import type { Tenant } from '../../shared/tenant.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { behindSql, tenantFilter } from './usage-sql.ts'

const SETTINGS = { max_threads: '1' }

/** The names of these customers; read from the marks of the tenant, of which there is one an hour, name, meter and partition. */
export async function touchedCustomers(
  client: ClickHouseClient,
  tenant: Tenant,
  since: readonly number[],
): Promise<string[]> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[key: string]>(
    client,
    `SELECT DISTINCT customer_key FROM usage_bucket_marks WHERE ${filter.scope} AND ${behindSql(since)} ORDER BY customer_key`,
    filter.params,
    SETTINGS,
  )
  return rows.map(([key]) => key)
}
