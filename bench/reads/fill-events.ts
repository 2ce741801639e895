// Events of a month, of many customers on one meter, made inside ClickHouse as the aggregator would have left them, in order of time.
import type { Tenant } from '../../shared/tenant.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'

const ROWS_PER_STATEMENT = 250_000
export const EVENT_CUSTOMERS = 2_000
const PARTITIONS = 4
export const MONTH_MS = 30 * 24 * 3_600_000

/** Of the customer with this number. */
export const eventCustomer = (number: number): string => `sender-${number}`

/** So many events that end at `end`, of which those before the one with the number `from` are left out. */
export type Filled = {
  readonly tenant: Tenant
  /** The meter of the event with the number `n`, in SQL. */
  readonly meter: string
  readonly events: number
  readonly end: number
  readonly from?: number
}

export async function fillEvents(client: ClickHouseClient, of: Filled): Promise<void> {
  const { tenant, meter, events, end, from = 0 } = of
  for (let first = from; first < events; first += ROWS_PER_STATEMENT)
    await client.command({
      query: `INSERT INTO usage_events SELECT lower(hex(sipHash128(n, 'read'))), substring(lower(hex(sipHash128(n))), 1, 16),
          {platform:String}, {environment:String}, concat('read-', toString(n)),
          concat('${eventCustomer(0).slice(0, -1)}', toString(cityHash64(n) % ${EVENT_CUSTOMERS})), ${meter}, at, at,
          ['units', 'hits'], [toDecimal128(n % 1000 / 8, 12), toDecimal128(1, 12)], ['', ''],
          map('kind', concat('kind-', toString(n % 5))), '', n % ${PARTITIONS}, intDiv(n, 50) + 1, n % 50, intDiv(n, 50) + 1, 0
        FROM (SELECT number + {first:UInt64} AS n,
          fromUnixTimestamp64Milli(toInt64(${end - MONTH_MS} + intDiv(n * ${MONTH_MS}, ${events})), 'UTC') AS at
        FROM numbers({rows:UInt64}))`,
      query_params: {
        platform: tenant.platformId,
        environment: tenant.environment,
        first,
        rows: Math.min(ROWS_PER_STATEMENT, events - first),
      },
    })
}
