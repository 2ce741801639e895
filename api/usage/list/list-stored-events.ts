// Lists of events: which records a page holds, whole, in order of time. Reads are bounded whatever a tenant has stored: a list reaches
// LIST_DEPTH events, and as much time is looked through as lately held enough.
import { eventHash } from '../../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import {
  type Beyond,
  beyondSql,
  type EventPosition,
  NEWEST_FIRST,
  OLDEST_FIRST,
  type OrderedAt,
  orderedAt,
} from '../event-cursor.ts'
import {
  DUPLICATE_EXTRAS,
  DUPLICATE_REPEAT,
  EVENT_EXTRAS,
  EVENT_REPEAT,
  FEW_ROWS,
  RECORD_COLUMNS,
  type RecordRow,
  recordOf,
  type StoredEvent,
} from '../stored-events.ts'
import { byCustomer, instantSql, tenantFilter, type UsageFilter } from '../usage-sql.ts'
import { createLongLists } from './long-lists.ts'
import { createListWindows } from './windows.ts'

/** A list reaches this many of the newest events. Use a narrower filter to find older ones. */
export const LIST_DEPTH = 10_000
/** From here on what a page skips is read by itself: whole records are several times as much. */
const DEEP = 500
/** A statement that takes longer is given up, and the refusal says to narrow the list. */
const EXECUTION_SECONDS_MAX = 20

const DAY_MS = 24 * 3_600_000
/** Of a customer there are fewer events than of a platform, so more time is looked through first. */
const ofPlatforms = createListWindows(15 * 60_000)
const ofCustomers = createListWindows(14 * DAY_MS)
const long = createLongLists()

export type EventFilter = {
  readonly customerKeys?: readonly string[] | undefined
  readonly meterReference?: string | undefined
  readonly reference?: string | undefined
  readonly deleted?: boolean | undefined
  /** Only duplicates, or none of them. */
  readonly duplicate?: boolean | undefined
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
}

/** The tables' keys hold the time and the id, so both may be filtered on before versions of a row are put together. */
const SETTINGS = `SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final = 1,
  max_execution_time = ${EXECUTION_SECONDS_MAX}`

/** A page of the records that match, newest first; `ended` when it is known that none follows it. */
export async function listStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  query: { readonly filter: EventFilter; readonly now: Instant; readonly limit: number; readonly offset: number },
): Promise<{ events: StoredEvent[]; ended: boolean }> {
  const { filter, now, limit, offset } = query
  const end = Math.min(filter.before ?? Number.POSITIVE_INFINITY, now)
  const newest = <T>(limit: number, offset: number, read: (page: Reading) => Promise<T[]>) =>
    nearest(tenant, { filter, wanted: limit + offset, limit }, length => {
      if (length !== null && end - length <= (filter.from ?? 0)) return null
      const within = length === null ? filter : { ...filter, from: instantOf(end - length) }
      return read({ filter: within, limit, offset, few: length !== null })
    })
  if (offset < DEEP) {
    const { found, whole } = await newest(limit, offset, page => readRecords(client, tenant, page))
    return { events: found, ended: whole && found.length < limit && (found.length > 0 || offset === 0) }
  }
  // What is skipped is skipped by what orders it; whole records are read from there on.
  const [before] = (await newest(1, offset - 1, page => readPlaces(client, tenant, page))).found
  if (!before) return { events: [], ended: false }
  const { found, whole } = await onFrom(client, tenant, { filter, position: before, side: 'OLDER', limit })
  return { events: found, ended: whole && found.length < limit }
}

/**
 * At most `limit` of the records that match on one side of a position, the nearest first. Nearer time is looked through first, so
 * that a reader who continues through a long list pays the same everywhere.
 */
export async function readBeyond(
  client: ClickHouseClient,
  tenant: Tenant,
  query: {
    readonly filter: EventFilter
    readonly position: EventPosition
    readonly side: Beyond['side']
    readonly limit: number
  },
): Promise<StoredEvent[]> {
  const { found } = await onFrom(client, tenant, { ...query, position: orderedAt(query.position) })
  return found
}

const onFrom = (
  client: ClickHouseClient,
  tenant: Tenant,
  { filter, position, side, limit }: Pick<Beyond, 'side' | 'position'> & { filter: EventFilter; limit: number },
): Promise<{ found: StoredEvent[]; whole: boolean }> =>
  nearest(tenant, { filter, wanted: limit, limit }, length => {
    const until =
      length === null ? undefined : instantOf(Math.max(0, position.timestamp + (side === 'OLDER' ? -length : length)))
    const beyond = { side, position, until }
    return readRecords(client, tenant, { filter, limit, offset: 0, beyond, few: length !== null })
  })

/**
 * What `read` finds in the least time that holds `limit` records, the time that lately did being tried first. Whatever the filter
 * allows is read when no such time does (`whole`), or when `read` gives null: that much time is all of it.
 */
async function nearest<T>(
  tenant: Tenant,
  of: { readonly filter: EventFilter; readonly wanted: number; readonly limit: number },
  read: (length: number | null) => Promise<T[]> | null,
): Promise<{ found: T[]; whole: boolean }> {
  const { filter, wanted, limit } = of
  const { customerKeys, meterReference, reference, duplicate, deleted } = filter
  // By the reference it is found by an index, wherever it lies.
  if (reference === undefined) {
    const windows = customerKeys === undefined ? ofPlatforms : ofCustomers
    const { platformId, environment } = tenant
    const reach = Math.ceil(Math.log10(wanted))
    const key = JSON.stringify([platformId, environment, customerKeys, meterReference, duplicate, deleted, reach])
    let skipped = 0
    for (const length of windows.from(key)) {
      if (skipped > 0) {
        skipped -= 1
        continue
      }
      const reading = read(length)
      if (reading === null) break
      const found = await reading
      if (found.length < limit) {
        // Behind what a page skips, how much there is of it says little.
        skipped = wanted === limit ? windows.hopeless(found.length / limit) : 0
        continue
      }
      windows.held(key, length)
      return { found, whole: false }
    }
    windows.held(key, null)
  }
  const found = await read(null)
  if (found === null) throw new Error('all of the time can be read')
  return { found, whole: true }
}

/** How many records match, no further than LIST_DEPTH. */
export async function countStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  events: EventFilter,
): Promise<number> {
  if (long.has(tenant, events)) return LIST_DEPTH
  const filter = tenantFilter(tenant)
  const sources = sourcesOf(filter, tenant, events).map(
    ({ table, where }) => `(SELECT 1 AS found FROM ${table} FINAL WHERE ${where} LIMIT ${LIST_DEPTH})`,
  )
  const rows = await selectRows<[string]>(
    client,
    `SELECT least(count(), ${LIST_DEPTH}) FROM (${sources.join(' UNION ALL ')}) ${SETTINGS}`,
    filter.params,
  )
  const total = Number(rows[0]?.[0] ?? 0)
  if (total === LIST_DEPTH) long.add(tenant, events)
  return total
}

/** `few`: it is known to be about few rows. */
type Reading = {
  readonly filter: EventFilter
  readonly limit: number
  readonly offset: number
  readonly beyond?: Beyond
  readonly few: boolean
}

async function readRecords(client: ClickHouseClient, tenant: Tenant, page: Reading): Promise<StoredEvent[]> {
  const columns = (extras: string): string =>
    `id_hash, customer_key, meter_reference, timestamp, received_at, ${extras}`
  return (await readRows<RecordRow>(client, tenant, { page, columns, shown: RECORD_COLUMNS })).map(recordOf)
}

/** Where records stand, without the records. */
async function readPlaces(client: ClickHouseClient, tenant: Tenant, page: Reading): Promise<OrderedAt[]> {
  const columns = (_extras: string, repeat: string): string => `id_hash, timestamp, ${repeat}`
  const shown = 'toUnixTimestamp64Milli(timestamp), toString(id_hash), repeat'
  const rows = await readRows<[string, string, string]>(client, tenant, { page, columns, shown })
  return rows.map(([timestamp, idHash, repeat]) => ({ timestamp: instantOf(Number(timestamp)), idHash, repeat }))
}

async function readRows<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  tenant: Tenant,
  of: {
    readonly page: Reading
    readonly columns: (extras: string, repeat: string) => string
    readonly shown: string
  },
): Promise<Row[]> {
  const { page, columns, shown } = of
  const filter = tenantFilter(tenant)
  const order = page.beyond?.side === 'NEWER' ? OLDEST_FIRST : NEWEST_FIRST
  const beyond = page.beyond && beyondSql(filter, page.beyond)
  const further = beyond ? ` AND ${beyond.time} AND ${beyond.further}` : ''
  const limits = `LIMIT ${filter.bind(page.limit, 'UInt32')} OFFSET ${filter.bind(page.offset, 'UInt32')}`
  const reach = filter.bind(page.limit + page.offset, 'UInt32')
  const sources = sourcesOf(filter, tenant, page.filter).map(
    ({ table, extras, repeat, where }) =>
      `SELECT ${columns(extras, repeat)} FROM ${table} FINAL WHERE ${where}${further} ORDER BY ${order}`,
  )
  const [only] = sources
  const sql =
    sources.length === 1
      ? `SELECT ${shown} FROM (${only} ${limits})`
      : `SELECT ${shown} FROM (${sources.map(each => `(${each} LIMIT ${reach})`).join(' UNION ALL ')})
         ORDER BY ${order} ${limits}`
  return await selectRows<Row>(client, `${sql} ${SETTINGS}`, filter.params, page.few ? FEW_ROWS : {})
}

/** `extras`: the columns of a record that not every table has, as expressions. */
type Source = { readonly table: string; readonly extras: string; readonly repeat: string; readonly where: string }

/** The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. */
function sourcesOf(filter: UsageFilter, tenant: Tenant, events: EventFilter): Source[] {
  const { customerKeys, meterReference, reference, deleted, duplicate, from, before } = events
  const { platformId, environment } = tenant
  const where = [
    filter.scope,
    ...(customerKeys ? [byCustomer(filter, customerKeys)] : []),
    ...(meterReference === undefined ? [] : [`meter_reference = ${filter.bind(meterReference, 'String')}`]),
    ...(reference === undefined
      ? []
      : [`id_hash = ${filter.bind(eventHash(platformId, environment, reference), 'String')}`]),
    ...(from === undefined ? [] : [`timestamp >= ${instantSql(filter, from)}`]),
    ...(before === undefined ? [] : [`timestamp < ${instantSql(filter, before)}`]),
  ]
  const state = deleted === undefined ? [] : [`deleted = ${deleted ? 1 : 0}`]
  const all = (...more: string[]): string => [...where, ...more].join(' AND ')
  // Of a platform, in order of time; of a customer or a reference, in the order of the customer.
  if (customerKeys === undefined && reference === undefined) {
    const kind = duplicate === undefined ? [] : [duplicate ? 'repeat > 0' : 'repeat = 0']
    return [
      {
        table: 'usage_records_by_time',
        extras: 'deleted, repeat, content',
        repeat: 'repeat',
        where: all(...state, ...kind),
      },
    ]
  }
  const own = { table: 'usage_events', extras: EVENT_EXTRAS, repeat: EVENT_REPEAT, where: all(...state) }
  const repeats = { table: 'usage_duplicates', extras: DUPLICATE_EXTRAS, repeat: DUPLICATE_REPEAT, where: all() }
  if (duplicate === false || (deleted === true && duplicate === undefined)) return [own]
  if (duplicate === true) return [deleted === true ? { ...repeats, where: all('0') } : repeats]
  return [own, repeats]
}
