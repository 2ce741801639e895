// The statements that fill usage_records_by_meter, and that say how far it is filled.
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { COMMON_METER, METER_KEY, METER_RECORD_ID } from '../../shared/usage/meter-records.ts'
import { AMENDMENT } from '../steps/rows.ts'
import type { Stretch } from './received.ts'

/**
 * What an aggregator says of the table: of these meters, everything it stored that was received before then is there, and of all others
 * everything. Where no meter is named it says so of any. Times in ms.
 */
export type Progress = {
  readonly owner: string
  readonly meters: readonly string[]
  readonly completeBefore: number
  readonly publishedAt: number
  readonly version: number
}

const secondSql = (second: number): string => `fromUnixTimestamp64Milli(${second * 1000}, 'UTC')`
const stretchSql = ({ from, before }: Stretch): string =>
  `received_at >= ${secondSql(from)}${before === null ? '' : ` AND received_at < ${secondSql(before)}`}`

/** The meters with fewest records are copied: up to this part of all, or so many of a copy. */
const PART = '1 / 10'
const AT_LEAST = 200

const METER = 'platform_id, environment, meter_reference'
const COMMON = `SELECT arrayJoin(meters) FROM usage_records_by_meter_progress WHERE startsWith(owner, '${COMMON_METER}')`
/** From here on a version says what became of an event: it was changed or deleted (steps/rows.ts). Those are there already. */
const CHANGED = AMENDMENT

/**
 * Copies the records that were received in these stretches, of meters with few. Of others it says for ever that not all are copied. Copied
 * twice they are the same records, and one that was changed meanwhile stays so.
 */
export async function copyRecords(client: ClickHouseClient, stretches: readonly Stretch[]): Promise<void> {
  const where = stretches.map(stretch => `(${stretchSql(stretch)})`).join(' OR ')
  const run = (query: string): Promise<unknown> =>
    client.command({ query, clickhouse_settings: { max_threads: 1, max_partitions_per_insert_block: '0' } })
  // Before the rest is copied, so that no list counts on the records of a meter that is common from now on.
  await run(`INSERT INTO usage_records_by_meter_progress (owner, complete_before, published_at, version, meters)
    SELECT concat('${COMMON_METER}', key), toDateTime64(0, 3, 'UTC'), toDateTime64(0, 3, 'UTC'), 0, [key] FROM (
      SELECT key, common, sum(if(common, 0, records)) OVER (ORDER BY records, key) AS so_far, sum(records) OVER () AS total
      FROM (SELECT ${METER_KEY} AS key, records, key IN (${COMMON}) AS common
        FROM (SELECT ${METER}, count() AS records FROM usage_records_by_time WHERE ${where} GROUP BY ${METER}))
    ) WHERE NOT common AND so_far > greatest(${AT_LEAST}, total * ${PART})`)
  await run(`INSERT INTO usage_records_by_meter
    SELECT ${METER}, timestamp, ${METER_RECORD_ID} AS id, repeat, received_at, 0, deleted, id_hash, customer_key, content
    FROM usage_records_by_time WHERE (${where}) AND ${METER_KEY} NOT IN (${COMMON}) AND version < ${CHANGED}`)
}

/** What each aggregator said last. */
export async function readProgress(client: ClickHouseClient): Promise<Progress[]> {
  const rows = await selectRows<[string, string, string, string, string[]]>(
    client,
    `SELECT owner, toUnixTimestamp64Milli(complete_before), toUnixTimestamp64Milli(published_at), version, meters
     FROM usage_records_by_meter_progress FINAL WHERE NOT startsWith(owner, '${COMMON_METER}')`,
  )
  return rows.map(([owner, completeBefore, publishedAt, version, meters]) => ({
    owner,
    meters,
    completeBefore: Number(completeBefore),
    publishedAt: Number(publishedAt),
    version: Number(version),
  }))
}
