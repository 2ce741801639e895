// Statements over the tables of records: which records, or where they stand, in a list's order.
import type { Tenant } from '../../../shared/tenant.ts'
import { type ClickHouseClient, selectCounted, selectRows } from '../../../shared/usage/clickhouse.ts'
import { type Beyond, beyondSql, NEWEST_FIRST, OLDEST_FIRST } from '../event-cursor.ts'
import { FEW_ROWS, RECORD_COLUMNS, RECORD_TIMES, type RecordRow, recordOf, type StoredEvent } from '../stored-events.ts'
import { tenantFilter, type UsageFilter } from '../usage-sql.ts'
import { type EventFilter, isOfMeter, isSparse, type Source, sourcesOf } from './sources.ts'
import { createWholeBefore, type WholeBefore } from './whole-before.ts'

/** From here on the rows of a page are read whole only once it is known which they are; the engine does so by itself up to 10,000. */
const DEEP = 10_000
/** A statement that takes longer is given up, and the refusal says to narrow the list. */
const EXECUTION_SECONDS_MAX = 20
/** A time is read only when it was thought to hold few; when it holds more rows than this, it is not read. */
const ROWS_OF_A_TIME_MAX = 300_000
/** A count reads at most this many rows: enough for a short list and for its neighbours in the table. A list that needs more is not short. */
const ROWS_OF_A_COUNT_MAX = 100_000

/** The tables' keys hold the time and the id, so both may be filtered on before versions of a row are put together. */
export const SETTINGS = `SETTINGS do_not_merge_across_partitions_select_final = 1, max_execution_time = ${EXECUTION_SECONDS_MAX}`
/** An index of what never changes may be used before versions are put together. Whether a record is deleted changes. */
export const WITH_INDEXES = `${SETTINGS}, use_skip_indexes_if_final = 1, ignore_data_skipping_indices = 'by_deleted'`
const WITHOUT_INDEXES = `${SETTINGS}, use_skip_indexes_if_final = 0`

/**
 * How much is looked through. TIME: what `filter` allows and no more, as far as that is few rows. REACH: the time that holds so many
 * rows which may match. TIMES: these, in milliseconds. ALL: whatever `filter` allows.
 */
export type Extent = 'TIME' | 'ALL' | { readonly reach: number } | { readonly times: readonly number[] }
export type Reading = {
  readonly filter: EventFilter
  readonly limit: number
  readonly offset: number
  readonly beyond?: Beyond
  readonly extent: Extent
}

const ofMeter = createWholeBefore()

/** How much of the list stands in the table of meters: to be read before a statement that reads from there. */
export const wholeBefore = async (
  client: ClickHouseClient,
  tenant: Tenant,
  events: EventFilter,
): Promise<WholeBefore> => (isOfMeter(events) ? await ofMeter(client, tenant, events.meterReference) : 'NONE')

export async function readRecords(client: ClickHouseClient, tenant: Tenant, page: Reading): Promise<StoredEvent[]> {
  const { extent, limit, offset } = page
  const byReach = typeof extent === 'object' && 'reach' in extent
  const { sql, params } = recordsSql(tenant, page, byReach ? await wholeBefore(client, tenant, page.filter) : 'NONE')
  const settings = extent === 'ALL' ? WITH_INDEXES : WITHOUT_INDEXES
  const bound = extent === 'TIME' ? `, max_rows_to_read = ${ROWS_OF_A_TIME_MAX}` : ''
  const lazy = limit + offset > DEEP ? `, query_plan_max_limit_for_lazy_materialization = ${limit + offset}` : ''
  const threads = extent === 'ALL' ? {} : FEW_ROWS
  const rows = await selectRows<RecordRow>(client, `${sql} ${settings}${bound}${lazy}`, params, {
    ...threads,
    ...RECORD_TIMES,
  })
  return rows.map(recordOf)
}

/**
 * As readRecords, of all of the time, with how many match: all rows are read by what orders them, and those of the page whole. Of a
 * customer or a meter, and refused where it would read more than ROWS_OF_A_COUNT_MAX.
 */
export async function readCounted(
  client: ClickHouseClient,
  tenant: Tenant,
  page: Omit<Reading, 'extent'>,
): Promise<{ readonly events: StoredEvent[]; readonly total: number }> {
  const { sql, params } = page.filter.customerKeys
    ? recordsSql(tenant, { ...page, extent: 'ALL' }, 'NONE')
    : ofMeterSql(tenant, page, await wholeBefore(client, tenant, page.filter))
  const bound = `max_rows_to_read = ${ROWS_OF_A_COUNT_MAX}`
  const { rows, total } = await selectCounted<RecordRow>(client, `${sql} ${WITH_INDEXES}, ${bound}`, params, {
    ...FEW_ROWS,
    ...RECORD_TIMES,
  })
  return { events: rows.map(recordOf), total }
}

/** The statement that reads a page of a meter, and all that stands before and after it, without its settings. */
function ofMeterSql(
  tenant: Tenant,
  { filter: events, limit, offset }: Omit<Reading, 'extent'>,
  whole: WholeBefore,
): Statement {
  const filter = tenantFilter(tenant)
  const counted = sourcesOf(filter, tenant, events, whole)[0]?.counted
  if (!counted) throw new TypeError('a list of a meter is counted')
  const limits = `LIMIT ${filter.bind(limit, 'UInt32')} OFFSET ${filter.bind(offset, 'UInt32')}`
  return {
    sql: `SELECT ${RECORD_COLUMNS} FROM ${counted.from} ORDER BY timestamp DESC, ${counted.id}, repeat ${limits}`,
    params: filter.params,
  }
}

/** Whether as many rows as `reach` may match; where fewer do, all of them were looked at. */
export async function reaches(
  client: ClickHouseClient,
  tenant: Tenant,
  { filter: events, beyond, reach }: Pick<Reading, 'filter' | 'beyond'> & { readonly reach: number },
): Promise<boolean> {
  const filter = tenantFilter(tenant)
  const sources = sourcesOf(filter, tenant, events, await wholeBefore(client, tenant, events))
  const near = sources.map(source =>
    nearestRows(source, { ...furtherOf(filter, beyond), side: beyond?.side ?? 'OLDER', reach }),
  )
  const sql = `SELECT count() >= ${reach} FROM (${near.join(' UNION ALL ')}) ${SETTINGS}`
  const rows = await selectRows<[number]>(client, sql, filter.params, FEW_ROWS)
  return rows[0]?.[0] === 1
}

/** A row that may match; several may be versions of one record. */
export type NearRow = readonly [ms: string, id: string, repeat: string]

/** The nearest rows that may match, so many at most. */
export async function nearRows(
  client: ClickHouseClient,
  tenant: Tenant,
  { filter: events, beyond, most }: Pick<Reading, 'filter' | 'beyond'> & { readonly most: number },
): Promise<NearRow[]> {
  const filter = tenantFilter(tenant)
  const side = beyond?.side ?? 'OLDER'
  const near = {
    ...furtherOf(filter, beyond),
    side,
    reach: most,
    whole: true,
  }
  const whole = await wholeBefore(client, tenant, events)
  const each = sourcesOf(filter, tenant, events, whole).map(source => nearestRows(source, near))
  const sql = `SELECT toUnixTimestamp64Milli(timestamp), toString(id), repeat FROM (${each.join(' UNION ALL ')})
    ORDER BY timestamp ${side === 'OLDER' ? 'DESC' : ''} LIMIT ${most} ${SETTINGS}`
  return await selectRows<NearRow>(client, sql, filter.params, FEW_ROWS)
}

/** SQL conditions for records beyond a position: `later` compares the time alone, `further` also the id. Each starts with AND. */
type Further = { readonly later: string; readonly further: string }

function furtherOf(filter: UsageFilter, beyond: Beyond | undefined): Further {
  if (beyond === undefined) return { later: '', further: '' }
  const { time, further } = beyondSql(filter, beyond)
  return { later: ` AND ${time}`, further: ` AND ${time} AND ${further}` }
}

type Statement = { readonly sql: string; readonly params: Record<string, unknown> }

type Near = Further & {
  readonly side: Beyond['side']
  readonly reach: number
  /** With what tells records of one time apart. */
  readonly whole?: boolean
}

/** The times of the nearest rows that may match, of which several may be versions of one record. */
function nearestRows({ stretches }: Source, { later, further, side, reach, whole = false }: Near): string {
  const nearest = `ORDER BY timestamp ${side === 'OLDER' ? 'DESC' : ''} LIMIT ${reach}`
  const each = stretches.map(
    ({ table, where, id, orders }) =>
      `(SELECT timestamp${whole ? `, ${id} AS id, repeat` : ''} FROM ${table} WHERE ${where}${orders ? further : later} ${nearest})`,
  )
  return each.length === 1 ? each.join('') : `(SELECT * FROM (${each.join(' UNION ALL ')}) ${nearest})`
}

/** The condition that a record is as near as so many rows are which may match. */
function withinReach(source: Source, sparse: boolean, near: Near): string {
  const rows = nearestRows(source, near)
  // Far from each other, they are read one by one.
  if (sparse) return ` AND timestamp IN ${rows}`
  const [bound, last] = near.side === 'OLDER' ? ['>=', 'minOrNull'] : ['<=', 'maxOrNull']
  return ` AND timestamp ${bound} (SELECT ${last}(timestamp) FROM ${rows})`
}

/** The statement that reads a page, without its settings. */
function recordsSql(tenant: Tenant, page: Reading, whole: WholeBefore): Statement {
  const { extent, limit, offset, beyond } = page
  const filter = tenantFilter(tenant)
  const side = beyond?.side ?? 'OLDER'
  const order = side === 'NEWER' ? OLDEST_FIRST : NEWEST_FIRST
  const beyondIt = furtherOf(filter, beyond)
  const { further } = beyondIt
  const limits = `LIMIT ${filter.bind(limit, 'UInt32')} OFFSET ${filter.bind(offset, 'UInt32')}`
  const most = filter.bind(limit + offset, 'UInt32')
  const sparse = isSparse(page.filter)
  const nearSql = (source: Source): string => {
    if (typeof extent !== 'object') return ''
    if ('reach' in extent) return withinReach(source, sparse, { ...beyondIt, side, reach: extent.reach })
    const times = filter.bind(extent.times, 'Array(Int64)')
    return ` AND timestamp IN (SELECT fromUnixTimestamp64Milli(arrayJoin(${times}), 'UTC'))`
  }
  const sources = sourcesOf(filter, tenant, page.filter, whole).map(source => {
    const near = nearSql(source)
    const { table, extras, where } = source
    return `SELECT id_hash, customer_key, meter_reference, timestamp, received_at, ${extras} FROM ${table} FINAL WHERE ${where}${further}${near} ORDER BY ${order}`
  })
  const sql =
    sources.length === 1
      ? `${sources.join('')} ${limits}`
      : `SELECT ${RECORD_COLUMNS} FROM (${sources.map(each => `(${each} LIMIT ${most})`).join(' UNION ALL ')})
         ORDER BY ${order} ${limits}`
  return { sql, params: filter.params }
}
