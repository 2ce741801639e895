// Lists of events: which records a page holds, whole, in order of time. Reads are bounded whatever a tenant has stored: a list reaches
// LIST_DEPTH events, and no more time is looked through than holds a page, of which the nearest rows say how much that is.
import type { Tenant } from '../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../shared/time.ts'
import { type ClickHouseClient, isTooManyRows, selectRows } from '../../../shared/usage/clickhouse.ts'
import { type Beyond, type EventPosition, orderedAt } from '../event-cursor.ts'
import { FEW_ROWS, type StoredEvent } from '../stored-events.ts'
import { tenantFilter } from '../usage-sql.ts'
import { createLongLists } from './long-lists.ts'
import { createPaces, type List } from './paces.ts'
import {
  type Extent,
  type NearRow,
  nearRows,
  type Reading,
  reaches,
  readCounted,
  readRecords,
  SETTINGS,
  WITH_INDEXES,
  wholeBefore,
} from './read-records.ts'
import { createShortLists } from './short-lists.ts'
import { type EventFilter, isSparse, type Stretch, sourcesOf } from './sources.ts'

/** A list reaches this many of the newest events. Use a narrower filter to find older ones. */
export const LIST_DEPTH = 50_000
/** Rows that may match are counted as far as this, to know how much time holds a page. */
const REACH_MAX = 1_000_000
/** How many times as many rows as before are looked at where versions of few records, or deleted ones, were most of them. */
const REACH_STEP = 8

/**
 * Of what may be rare, the nearest rows are found out first, so many at most. Far from each other, they are what a list costs; where
 * there are fewer, all of them are known, and how many match.
 */
const SPARSE_MAX = 2_001

const long = createLongLists()
const short = createShortLists()
const paces = createPaces()

type Page = { readonly filter: EventFilter; readonly now: Instant; readonly limit: number; readonly offset: number }
/** `ended`: it is known that none follows. `total`: how many match, where reading the page showed it. */
type StoredPage = { readonly events: StoredEvent[]; readonly ended: boolean; readonly total: number | null }

/** A page of the records that match, newest first. */
export async function listStoredEvents(client: ClickHouseClient, tenant: Tenant, page: Page): Promise<StoredPage> {
  const { filter, now, limit, offset } = page
  const counted = await readShort(client, tenant, { filter, limit, offset })
  if (counted) return { ...counted, ended: offset + limit >= counted.total }
  const end = Math.min(filter.before ?? Number.POSITIVE_INFINITY, now)
  const { found, whole, total } = await nearest(client, tenant, {
    filter,
    limit,
    offset,
    within: ms => {
      const from = instantOf(Math.max(0, end - ms))
      return from <= (filter.from ?? 0) ? null : { filter: { ...filter, from } }
    },
    distance: ({ timestamp }) => end - timestamp,
  })
  if (total !== null) short.note(tenant, filter, total)
  return { events: found, ended: whole && found.length < limit && (found.length > 0 || offset === 0), total }
}

/** A page of a customer's or a meter's list that was short lately, with how many match; null for others. */
async function readShort(
  client: ClickHouseClient,
  tenant: Tenant,
  page: Omit<Page, 'now'>,
): Promise<{ readonly events: StoredEvent[]; readonly total: number } | null> {
  const { filter } = page
  // A reference is looked up in two tables, and a platform's list is not read whole.
  const isOfOne = filter.customerKeys !== undefined || filter.meterReference !== undefined
  if (!isOfOne || filter.reference !== undefined || !short.has(tenant, filter)) return null
  try {
    const counted = await readCounted(client, tenant, page)
    const total = Math.min(counted.total, LIST_DEPTH)
    short.note(tenant, filter, total)
    return { ...counted, total }
  } catch (error) {
    if (!isTooManyRows(error)) throw error
    short.note(tenant, filter, LIST_DEPTH)
    return null
  }
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
  const { filter, side, limit } = query
  const position = orderedAt(query.position)
  const beyond = { side, position, until: undefined }
  const { found } = await nearest(client, tenant, {
    filter,
    limit,
    offset: 0,
    beyond,
    within: ms => {
      const until = instantOf(Math.max(0, position.timestamp + (side === 'OLDER' ? -ms : ms)))
      return { filter, beyond: { ...beyond, until } }
    },
    distance: ({ timestamp }) => Math.abs(position.timestamp - timestamp),
  })
  return found
}

type Nearest = Omit<Reading, 'extent'> & {
  /** What is read within so much time; null when that is all of the list's time. */
  readonly within: (ms: number) => Pick<Reading, 'filter' | 'beyond'> | null
  /** How far in time from where the list begins. */
  readonly distance: (event: StoredEvent) => number
}

/** `whole`: all was looked through for it. `total`: how many match, where that was seen. */
type Found = { readonly found: StoredEvent[]; readonly whole: boolean; readonly total: number | null }

/**
 * A page. The time that lately held as many is read first. Where it does not, as much time is read as the nearest rows that may match
 * say.
 */
async function nearest(client: ClickHouseClient, tenant: Tenant, of: Nearest): Promise<Found> {
  const { filter, limit, offset, beyond, within, distance } = of
  const page = { filter, limit, offset, ...(beyond ? { beyond } : {}) }
  const read = (extent: Extent, more: object = {}): Promise<StoredEvent[]> =>
    readRecords(client, tenant, { ...page, ...more, extent })
  // By the reference it is found by an index, wherever it lies.
  if (filter.reference !== undefined) return { found: await read('ALL'), whole: true, total: null }
  const list: List = { filter, cursor: beyond !== undefined }
  const wanted = limit + offset
  const note = (found: StoredEvent[], whole: boolean, total: number | null = null): Found => {
    const [first, last] = [found[0], found.at(-1)]
    if (first && last && found.length === limit) {
      // Of a later page it is not known what was before the first event.
      const lead = offset === 0 ? distance(first) : 0
      paces.note(tenant, list, wanted, { ms: distance(last), lead })
    } else if (offset === 0) paces.note(tenant, list, wanted, 'ALL')
    return { found, whole, total }
  }
  const expected = paces.of(tenant, list, wanted)
  if (expected !== null && expected !== 'FAR') {
    const narrow = expected === 'ALL' ? null : within(expected.ms)
    try {
      const found = await read('TIME', narrow ?? {})
      if (found.length === limit || narrow === null) return note(found, narrow === null)
    } catch (error) {
      if (!isTooManyRows(error)) throw error
      if (narrow !== null || isSparse(filter)) paces.note(tenant, list, wanted, 'FAR')
    }
  }
  const first = wanted + Math.ceil(wanted / 8) + REACH_STEP
  const sparse = await nearestSparse(client, tenant, { page, first, read })
  if (sparse) return note(sparse.found, sparse.whole, sparse.total)
  for (let reach = first; reach <= REACH_MAX; reach *= REACH_STEP) {
    const found = await read({ reach })
    if (found.length === limit) return note(found, false)
    if (!(await reaches(client, tenant, { ...page, reach }))) return note(found, true)
  }
  return note(await read('ALL'), true)
}

/**
 * A page of rows that may lie far from each other: those that may match are found out once. Null where they do not fill it, and where
 * what matches is not rare.
 */
async function nearestSparse(
  client: ClickHouseClient,
  tenant: Tenant,
  of: {
    readonly page: Omit<Reading, 'extent'>
    /** Rows that are read at first. */
    readonly first: number
    readonly read: (extent: Extent) => Promise<StoredEvent[]>
  },
): Promise<Found | null> {
  const { page, first, read } = of
  const { filter, beyond, limit } = page
  if (!isSparse(filter) || first > SPARSE_MAX) return null
  // To know how many match takes more of them.
  const most = beyond || long.has(tenant, filter) ? first : SPARSE_MAX
  const rows = await nearRows(client, tenant, { ...page, most })
  const isAll = rows.length < most
  // Where deleted ones are left out, a row that may match says nothing of its record.
  const total = isAll && !beyond && filter.deleted !== false ? recordsIn(rows) : null
  for (let reach = first; ; reach *= REACH_STEP) {
    const times = timesOf(rows.slice(0, reach))
    const found = times.length === 0 ? [] : await read({ times })
    if (found.length === limit) return { found, whole: false, total }
    if (reach >= rows.length) return isAll ? { found, whole: true, total } : null
  }
}

const timesOf = (rows: readonly NearRow[]): number[] => [...new Set(rows.map(([ms]) => Number(ms)))]
const recordsIn = (rows: readonly NearRow[]): number => new Set(rows.map(row => row.join())).size

/** The records that stand in these stretches, each once, no more than LIST_DEPTH. */
function distinctRows(stretches: readonly Stretch[]): string {
  const each = stretches.map(
    ({ table, where, id }) =>
      `(SELECT DISTINCT timestamp, ${id} AS id, repeat FROM ${table} WHERE ${where} LIMIT ${LIST_DEPTH})`,
  )
  if (each.length === 1) return each.join('')
  return `(SELECT DISTINCT timestamp, id, repeat FROM (${each.join(' UNION ALL ')}) LIMIT ${LIST_DEPTH})`
}

/** How many records match, no further than LIST_DEPTH. */
export async function countStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  events: EventFilter,
): Promise<number> {
  if (long.has(tenant, events)) return LIST_DEPTH
  const filter = tenantFilter(tenant)
  const sources = sourcesOf(filter, tenant, events, await wholeBefore(client, tenant, events))
  const stretches = sources.flatMap(source => source.stretches)
  // Every version that may match does then, so the few rows that may are counted without what lies among them.
  const byRows = isSparse(events) && events.deleted !== false && stretches.length > 0
  const counted = byRows
    ? [distinctRows(stretches)]
    : sources.map(({ table, where }) => `(SELECT 1 AS found FROM ${table} FINAL WHERE ${where} LIMIT ${LIST_DEPTH})`)
  const rows = await selectRows<[string]>(
    client,
    `SELECT least(count(), ${LIST_DEPTH}) FROM (${counted.join(' UNION ALL ')}) ${byRows ? SETTINGS : WITH_INDEXES}`,
    filter.params,
    // Of a customer as well: its records lie together, and no more are counted than a list reaches.
    byRows || events.customerKeys ? FEW_ROWS : {},
  )
  const total = Number(rows[0]?.[0] ?? 0)
  short.note(tenant, events, total)
  if (total === LIST_DEPTH) long.add(tenant, events)
  return total
}
