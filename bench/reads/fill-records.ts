// More events than a bench can wait for, in the tables alone that lists read.
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import { EVENT_CUSTOMERS, eventCustomer, type Filled, fillEvents, MONTH_MS } from './fill-events.ts'

const ROWS_PER_STATEMENT = 250_000
/** The newest, which are whole events: a page holds their ids. */
const WHOLE = 100_000

/** As fillEvents, of which only the newest are more than an entry of a list. */
export async function fillRecords(client: ClickHouseClient, of: Filled): Promise<void> {
  const { tenant, meter, events, end } = of
  const records = events - WHOLE
  for (let first = 0; first < records; first += ROWS_PER_STATEMENT)
    // usage_records_by_customer is filled from it.
    await client.command({
      query: `INSERT INTO usage_records_by_time
          (platform_id, environment, timestamp, id_hash, repeat, customer_key, meter_reference, received_at, content, version, deleted)
        SELECT {platform:String}, {environment:String}, at, lower(hex(sipHash128(n, 'read'))), 0,
          concat('${eventCustomer(0).slice(0, -1)}', toString(cityHash64(n) % ${EVENT_CUSTOMERS})), {meter:String}, at,
          concat('["read-', toString(n), '","",["units","hits"],["', toString(n % 1000 / 8), '","1"],["",""],{"kind":"kind-', toString(n % 5),
            '"},', toString(n % 4), ',"', toString(intDiv(n, 50) + 1), '",', toString(n % 50), ',0]'),
          intDiv(n, 50) + 1, 0
        FROM (SELECT number + {first:UInt64} AS n,
          fromUnixTimestamp64Milli(toInt64(${end - MONTH_MS} + intDiv(n * ${MONTH_MS}, ${events})), 'UTC') AS at
        FROM numbers({rows:UInt64}))`,
      query_params: {
        platform: tenant.platformId,
        environment: tenant.environment,
        meter,
        first,
        rows: Math.min(ROWS_PER_STATEMENT, records - first),
      },
    })
  await fillEvents(client, { ...of, from: records })
}
