// Lists of events: which records a page holds, whole, in order of time. Reads are bounded whatever a tenant has stored: a list reaches
// LIST_DEPTH events, and as much time is looked through as lately held enough.
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
import { FEW_ROWS, RECORD_COLUMNS, type RecordRow, recordOf, type StoredEvent } from '../stored-events.ts'
import { tenantFilter } from '../usage-sql.ts'
import { createLongLists } from './long-lists.ts'
import { createPaces } from './paces.ts'
import { createShortLists, WHOLE_MAX } from './short-lists.ts'
import { type EventFilter, sourcesOf } from './sources.ts'
import { createListWindows } from './windows.ts'

/** A list reaches this many of the newest events. Use a narrower filter to find older ones. */
export const LIST_DEPTH = 50_000
/** From here on what a page skips is read by itself: whole records are several times as much. */
const DEEP = 500
/** A statement that takes longer is given up, and the refusal says to narrow the list. */
const EXECUTION_SECONDS_MAX = 20

const DAY_MS = 24 * 3_600_000
/** Of a customer there are fewer events than of a platform, so more time is looked through first. */
const ofPlatforms = createListWindows(15 * 60_000)
const ofCustomers = createListWindows(14 * DAY_MS)
const long = createLongLists()
const short = createShortLists()
/** How much time an event took in the list that was read deepest lately; a deep page looks through a tenth more than that. */
const paces = createPaces()

/** The tables' keys hold the time and the id, so both may be filtered on before versions of a row are put together. */
const SETTINGS = `SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final = 1,
  max_execution_time = ${EXECUTION_SECONDS_MAX}`

type Page = { readonly filter: EventFilter; readonly now: Instant; readonly limit: number; readonly offset: number }
/** `ended`: it is known that none follows. `total`: how many match, where reading the page showed it. */
type StoredPage = { readonly events: StoredEvent[]; readonly ended: boolean; readonly total: number | null }

/** A page of the records that match, newest first. */
export async function listStoredEvents(client: ClickHouseClient, tenant: Tenant, page: Page): Promise<StoredPage> {
  const { filter, now, limit, offset } = page
  if (filter.customerKeys !== undefined && short.has(tenant, filter)) {
    const whole = await readWhole(client, tenant, page)
    if (whole) return whole
  }
  const end = Math.min(filter.before ?? Number.POSITIVE_INFINITY, now)
  const within = (length: number | null): EventFilter | null => {
    if (length === null) return filter
    return end - length <= (filter.from ?? 0) ? null : { ...filter, from: instantOf(end - length) }
  }
  if (offset < DEEP) {
    const { found, whole } = await nearest(tenant, { filter, wanted: limit + offset, limit }, length => {
      const lately = within(length)
      return lately && readRecords(client, tenant, { filter: lately, limit, offset, few: length !== null })
    })
    return { events: found, ended: whole && found.length < limit && (found.length > 0 || offset === 0), total: null }
  }
  // What is skipped is skipped by what orders it; whole records are read from there on.
  const last = (within: EventFilter, few: boolean): Promise<OrderedAt[]> =>
    readPlaces(client, tenant, { filter: within, limit: 1, offset: offset - 1, few })
  const pace = within(paces.of(tenant, filter, offset))
  const [expected] = pace === null || pace === filter ? [] : await last(pace, true)
  const read = { filter, wanted: offset, limit: 1 }
  const before =
    expected ??
    (
      await nearest(tenant, read, length => {
        const lately = within(length)
        return lately && last(lately, length !== null)
      })
    ).found[0]
  if (!before) return { events: [], ended: false, total: null }
  paces.note(tenant, filter, { events: offset, ms: end - before.timestamp })
  const { found, whole } = await onFrom(client, tenant, { filter, position: before, side: 'OLDER', limit })
  return { events: found, ended: whole && found.length < limit, total: null }
}

/** A page of a list that was short when it was read last, with its length; null when it is not short any more, or too short for the page. */
async function readWhole(
  client: ClickHouseClient,
  tenant: Tenant,
  { filter, limit, offset }: Page,
): Promise<StoredPage | null> {
  const page = { filter, limit, offset, few: true, counted: true } as const
  const columns = (extras: string): string =>
    `id_hash, customer_key, meter_reference, timestamp, received_at, ${extras}`
  const shown = `${RECORD_COLUMNS}, total`
  const rows = await readRows<[...RecordRow, string]>(client, tenant, { page, columns, shown })
  const total = Number(rows[0]?.[TOTAL_AT] ?? Number.POSITIVE_INFINITY)
  if (total > WHOLE_MAX) return null
  short.note(tenant, filter, total)
  const events = rows.map(row => recordOf(row.slice(0, TOTAL_AT) as RecordRow))
  return { events, ended: offset + events.length >= total, total }
}
const TOTAL_AT = 8

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
  short.note(tenant, events, total)
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
  /** With how many match, up to one more than WHOLE_MAX, as the column `total`. */
  readonly counted?: true
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
  const counted = (source: string): string =>
    `SELECT *, count() OVER () AS total FROM (${source} LIMIT ${WHOLE_MAX + 1}) ORDER BY ${order}`
  const sql =
    sources.length === 1
      ? `SELECT ${shown} FROM (${page.counted ? counted(only ?? '') : only} ${limits})`
      : `SELECT ${shown} FROM (${sources.map(each => `(${each} LIMIT ${reach})`).join(' UNION ALL ')})
         ORDER BY ${order} ${limits}`
  return await selectRows<Row>(client, `${sql} ${SETTINGS}`, filter.params, page.few ? FEW_ROWS : {})
}
