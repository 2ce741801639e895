// Lists of events: which records a page holds, in order of time. Reads are bounded whatever a tenant has stored: a list reaches
// LIST_DEPTH events, and what is sorted is bounded by looking through recent time first.
import { eventHash } from '../../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../../shared/usage/clickhouse.ts'
import { type Beyond, beyondSql, type EventPosition, NEWEST_FIRST, OLDEST_FIRST } from '../event-cursor.ts'
import { type EventKey, KEY_COLUMNS, type KeyRow, keyOf } from '../stored-events.ts'
import { byCustomer, instantSql, tenantFilter, type UsageFilter } from '../usage-sql.ts'
import { createListWindows } from './windows.ts'

/** A list reaches this many of the newest events. Use a narrower filter to find older ones. */
export const LIST_DEPTH = 10_000
/** A statement that takes longer is given up, and the refusal says to narrow the list. */
const EXECUTION_SECONDS_MAX = 20

const pages = createListWindows()
const cursors = createListWindows()

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

/** A page of the records that match, newest first; `total` counts no further than LIST_DEPTH. */
export async function listStoredEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  query: { readonly filter: EventFilter; readonly now: Instant; readonly limit: number; readonly offset: number },
): Promise<{ keys: EventKey[]; total: number }> {
  const { filter, now, limit, offset } = query
  const end = Math.min(filter.before ?? Number.POSITIVE_INFINITY, now)
  const key = windowKey(tenant, filter)
  for (const length of isOfSome(filter) ? [] : pages.from(key)) {
    if (end - length <= (filter.from ?? 0)) break
    const within = { ...filter, from: instantOf(end - length) }
    const total = await countUpTo(client, tenant, within)
    if (total < LIST_DEPTH) continue
    pages.held(key, length)
    return { keys: await readKeys(client, tenant, { filter: within, limit, offset }), total }
  }
  if (!isOfSome(filter)) pages.held(key, null)
  const total = await countUpTo(client, tenant, filter)
  return { keys: offset >= total ? [] : await readKeys(client, tenant, { filter, limit, offset }), total }
}

/** Whether a filter names whose events, or which: then they are found by the key of the table, and are sorted whole. */
const isOfSome = ({ reference, customerKeys }: EventFilter): boolean =>
  reference !== undefined || customerKeys !== undefined

/** Lists of one kind: of all events, of a meter, of duplicates alone. */
const windowKey = ({ platformId, environment }: Tenant, { meterReference, duplicate, deleted }: EventFilter): string =>
  JSON.stringify([platformId, environment, meterReference, duplicate, deleted])

/**
 * At most `limit` of the records that match on one side of a position, the nearest first. Nearer time is looked through first, so
 * that going on through a long list costs the same everywhere.
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
): Promise<EventKey[]> {
  const { filter, position, side, limit } = query
  const read = (until: Instant | undefined) =>
    readKeys(client, tenant, { filter, limit, offset: 0, beyond: { side, position, until } })
  if (isOfSome(filter)) return await read(undefined)
  const key = windowKey(tenant, filter)
  for (const length of cursors.from(key)) {
    const keys = await read(instantOf(position.timestamp + (side === 'OLDER' ? -length : length)))
    if (keys.length < limit) continue
    cursors.held(key, length)
    return keys
  }
  cursors.held(key, null)
  return await read(undefined)
}

async function countUpTo(client: ClickHouseClient, tenant: Tenant, events: EventFilter): Promise<number> {
  const filter = tenantFilter(tenant)
  const sources = sourcesOf(filter, tenant, events).map(
    ({ from }) => `(SELECT 1 AS found FROM ${from} LIMIT ${LIST_DEPTH})`,
  )
  const rows = await selectRows<[string]>(
    client,
    `SELECT least(count(), ${LIST_DEPTH}) FROM (${sources.join(' UNION ALL ')}) ${SETTINGS}`,
    filter.params,
  )
  return Number(rows[0]?.[0] ?? 0)
}

async function readKeys(
  client: ClickHouseClient,
  tenant: Tenant,
  page: { readonly filter: EventFilter; readonly limit: number; readonly offset: number; readonly beyond?: Beyond },
): Promise<EventKey[]> {
  const filter = tenantFilter(tenant)
  const order = page.beyond?.side === 'NEWER' ? OLDEST_FIRST : NEWEST_FIRST
  const beyond = page.beyond ? ` AND ${beyondSql(filter, page.beyond)}` : ''
  const limit = filter.bind(page.limit, 'UInt32')
  const offset = filter.bind(page.offset, 'UInt32')
  const reach = filter.bind(page.limit + page.offset, 'UInt32')
  const sources = sourcesOf(filter, tenant, page.filter).map(
    ({ from, duplicate }) =>
      `(SELECT id_hash, customer_key, meter_reference, subscription, properties, timestamp, received_at, log_partition, log_seq, log_line,
          ${duplicate} AS duplicate FROM ${from}${beyond} ORDER BY ${order} LIMIT ${reach})`,
  )
  const rows = await selectRows<KeyRow>(
    client,
    `SELECT ${KEY_COLUMNS}, duplicate FROM (${sources.join(' UNION ALL ')})
     ORDER BY ${order} LIMIT ${limit} OFFSET ${offset} ${SETTINGS}`,
    filter.params,
  )
  return rows.map(keyOf)
}

/** The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. */
function sourcesOf(filter: UsageFilter, tenant: Tenant, events: EventFilter): { from: string; duplicate: 0 | 1 }[] {
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
  ].join(' AND ')
  const state = deleted === undefined ? '' : ` AND deleted = ${deleted ? 1 : 0}`
  const none = (wanted: boolean): string => (wanted ? '' : ' AND 0')
  // Of a platform, in order of time; of a customer or a reference, in the order of the customer.
  const table = isOfSome(events) ? 'usage_events' : 'usage_event_times'
  return [
    { from: `${table} FINAL WHERE ${where}${state}${none(duplicate !== true)}`, duplicate: 0 },
    { from: `usage_duplicates FINAL WHERE ${where}${none(duplicate !== false && deleted !== true)}`, duplicate: 1 },
  ]
}
