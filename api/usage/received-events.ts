// What came in during a time: by when the gateway received it, and not by its own time.
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, type Interval, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type EventKey, RECORD_COLUMNS, RECORD_TIMES, type RecordRow, recordOf } from './stored-events.ts'
import { instantSql, tenantFilter } from './usage-sql.ts'

/** Repeats that reached the log, by the minute in which they were received; none for a minute without. */
export async function repeatsByMinute(
  client: ClickHouseClient,
  tenant: Tenant,
  { start, end }: Interval,
): Promise<ReadonlyMap<Instant, number>> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<[string, string]>(
    client,
    `SELECT toUnixTimestamp64Milli(toStartOfMinute(received_at)::DateTime64(3, 'UTC')) AS minute, uniqExact(log_partition, log_seq, log_line)
     FROM usage_duplicates
     WHERE ${filter.scope} AND received_at >= ${instantSql(filter, start)} AND received_at < ${instantSql(filter, end)}
     GROUP BY minute`,
    filter.params,
  )
  return new Map(rows.map(([minute, count]) => [instantOf(Number(minute)), Number(count)]))
}

/** The events that count and were received in this time, the last received first; at most `limit`. */
export async function receivedEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  { within: { start, end }, limit }: { readonly within: Interval; readonly limit: number },
): Promise<EventKey[]> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<RecordRow>(
    client,
    `SELECT ${RECORD_COLUMNS} FROM usage_records_by_time FINAL
     WHERE ${filter.scope} AND repeat = 0 AND received_at >= ${instantSql(filter, start)} AND received_at < ${instantSql(filter, end)} AND deleted = 0
     ORDER BY received_at DESC LIMIT ${filter.bind(limit, 'UInt32')} SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final = 1,
       ignore_data_skipping_indices = 'by_deleted'`,
    filter.params,
    RECORD_TIMES,
  )
  return rows.map(recordOf)
}
