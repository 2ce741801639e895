// What a usage receipt needs of the events that an invoice counted: entries of its hash tree in their order, and what decides whether
// they were counted. Events may be millions, so they are read a slice of that order at a time.
import type { Tenant } from '../../shared/tenant.ts'
import { instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { type CountedEvent, type CountedSource, countedSql } from './counted-events.ts'
import { tenantFilter } from './usage-sql.ts'

export type EntriesQuery = CountedSource & {
  /** The reference of the event whose content hash is wanted too. */
  readonly proven?: string
  /** Read by one thread, so that requests are not slowed down. */
  readonly inBackground?: true
  /** How many events are read at once. */
  readonly atOnce?: number
}

/** What decides whether a charge counts events, besides their times: many have it in common. */
export type CountableEvents = Pick<CountedEvent, 'customerKey' | 'meterReference' | 'subscription' | 'properties'> & {
  readonly values: readonly { readonly reference: string }[]
}

/** When an event was, and its place in the log. */
export type EventPlace = Pick<CountedEvent, 'timestamp' | 'partition' | 'seq'>

/** Events that have much in common, in no order. */
export type ReceiptEntries = {
  readonly of: CountableEvents
  readonly number: number
  placeOf(index: number): EventPlace
  /** The hash of the reference, as hexadecimal text: the tree has entries in the order of these. */
  orderOf(index: number): string
  /** The hash of the entry in the tree: of the byte 0, the 8 bytes of its content hash and its reference. */
  leafOf(index: number): Buffer
  /** The content hash of the event that is `proven`, where it is one of these. */
  readonly provenContent: string | null
}

type Row = [
  customerKey: string,
  meterReference: string,
  subscription: string,
  properties: Record<string, string>,
  valueReferences: string[],
  orders: string,
  leaves: string,
  timestamps: number[],
  partitions: number[],
  seqs: number[],
  provenContent: string,
]

/** What receives them sorts and hashes for a tenth of a second, while requests wait. */
const AT_ONCE = 50_000
/** Each reading finds all events again. These take some tens of megabytes as an answer, and what receives it twice that. */
const AT_ONCE_IN_BACKGROUND = 100_000
/** How much of that a slice is expected to hold. What slices hold differs by chance, by one in a hundred. */
const PART_OF_SLICE = 0.8
const ORDER = 'SHA256(reference)'
/** By its first four bytes. */
const COARSE_ORDER = `reinterpretAsUInt32(reverse(substring(${ORDER}, 1, 4)))`
const ORDERS = 2 ** 32

/**
 * The entries, each once, a slice of their order at a time: those of a slice follow those of the slice before, and within it they
 * have no order.
 */
export async function* receiptEntries(
  client: ClickHouseClient,
  tenant: Tenant,
  query: EntriesQuery,
): AsyncGenerator<readonly ReceiptEntries[]> {
  if (query.customerKeys.length === 0 || query.meterReferences.length === 0) return
  const { atOnce = query.inBackground ? AT_ONCE_IN_BACKGROUND : AT_ONCE } = query
  const all = await readEntries(client, tenant, { query, limit: atOnce + 1 })
  if (all.reduce((sum, { number }) => sum + number, 0) <= atOnce) {
    yield all
    return
  }
  const slices = Math.ceil((await countRows(client, tenant, query)) / (atOnce * PART_OF_SLICE))
  const startOf = (slice: number): number => Math.floor((slice * ORDERS) / slices)
  for (let slice = 0; slice < slices; slice += 1)
    yield await readEntries(client, tenant, { query, orders: [startOf(slice), startOf(slice + 1)] })
}

const settingsOf = ({ inBackground }: EntriesQuery): Record<string, string> =>
  inBackground ? { max_threads: '1' } : {}

type Part = {
  readonly query: EntriesQuery
  readonly limit?: number
  /** Only from the first of these up to the second. */
  readonly orders?: readonly [number, number]
}

async function readEntries(
  client: ClickHouseClient,
  tenant: Tenant,
  { query, limit, orders }: Part,
): Promise<ReceiptEntries[]> {
  const filter = tenantFilter(tenant)
  const conditions = [
    ...countedSql(filter, query),
    ...(orders ? [`${COARSE_ORDER} >= ${orders[0]} AND ${COARSE_ORDER} < ${orders[1]}`] : []),
  ]
  const proven = query.proven === undefined ? '0' : `reference = ${filter.bind(query.proven, 'String')}`
  // Events of a customer and meter are neighbours and mostly say the same of themselves: what they have in common is answered once. Each
  // hash becomes text by itself: joined as bytes, one that ends with zeros would lose them, and shift all that follow.
  const rows = await selectRows<Row>(
    client,
    `SELECT customer_key, meter_reference, subscription, properties, value_references,
       arrayStringConcat(groupArray(hex(${ORDER}))),
       arrayStringConcat(groupArray(hex(SHA256(concat(unhex('00'), unhex(content_hash), reference))))),
       groupArray(toFloat64(toUnixTimestamp64Milli(timestamp))), groupArray(log_partition), groupArray(toFloat64(log_seq)),
       anyIf(toString(content_hash), ${proven})
     FROM (
       SELECT * FROM usage_events FINAL WHERE ${conditions.join(' AND ')}
       ${limit === undefined ? '' : `LIMIT ${filter.bind(limit, 'UInt32')}`})
     GROUP BY customer_key, meter_reference, subscription, properties, value_references
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
    settingsOf(query),
  )
  return rows.map(entriesOf)
}

/** Rows that may be among them; an event that was amended may have several. */
async function countRows(client: ClickHouseClient, tenant: Tenant, query: EntriesQuery): Promise<number> {
  const filter = tenantFilter(tenant)
  const [row] = await selectRows<[string]>(
    client,
    `SELECT count() FROM usage_events WHERE ${countedSql(filter, query).join(' AND ')}`,
    filter.params,
    settingsOf(query),
  )
  return Number(row?.[0] ?? 0)
}

const HASH_BYTES = 32

function entriesOf(row: Row): ReceiptEntries {
  const [customerKey, meterReference, subscription, properties, names, orders, leafText, times, ...rest] = row
  const [partitions, seqs, provenContent] = rest
  const leaves = Buffer.from(leafText, 'hex')
  return {
    of: { customerKey, meterReference, subscription, properties, values: names.map(reference => ({ reference })) },
    number: times.length,
    placeOf: index => ({
      timestamp: instantOf(times[index] ?? 0),
      partition: partitions[index] ?? 0,
      seq: seqs[index] ?? 0,
    }),
    orderOf: index => orders.slice(index * 2 * HASH_BYTES, (index + 1) * 2 * HASH_BYTES),
    leafOf: index => leaves.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    provenContent: provenContent === '' ? null : provenContent,
  }
}
