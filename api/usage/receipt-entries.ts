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

/** What decides whether a charge counts an event. */
export type CountableEvent = Pick<
  CountedEvent,
  'customerKey' | 'meterReference' | 'timestamp' | 'subscription' | 'properties' | 'partition' | 'seq'
> & { readonly values: readonly { readonly reference: string }[] }

export type ReceiptEntry = {
  readonly event: CountableEvent
  /** The hash of its entry in the tree: of the byte 0, the 8 bytes of its content hash and its reference. */
  readonly leaf: Buffer
  /** The content hash of the event that is `proven`; null for any other. */
  readonly contentHash: string | null
}

type Row = [
  leaf: string,
  customerKey: string,
  meterReference: string,
  timestamp: string,
  subscription: string,
  properties: Record<string, string>,
  valueReferences: string[],
  partition: number,
  seq: string,
  contentHash: string,
]

/** They take some tens of megabytes as an answer, and what receives it twice that. */
const AT_ONCE = 50_000
/** How much of that a slice is expected to hold. What slices hold differs by chance, by one in a hundred. */
const PART_OF_SLICE = 0.8
const PLACE = 'SHA256(reference)'
/** The place of an event by its first four bytes. */
const COARSE_PLACE = `reinterpretAsUInt32(reverse(substring(${PLACE}, 1, 4)))`
const PLACES = 2 ** 32

/** The entries in the order of the hashes of their references, each once, some at a time. */
export async function* receiptEntries(
  client: ClickHouseClient,
  tenant: Tenant,
  query: EntriesQuery,
): AsyncGenerator<readonly ReceiptEntry[]> {
  if (query.customerKeys.length === 0 || query.meterReferences.length === 0) return
  const { atOnce = AT_ONCE } = query
  const all = await readEntries(client, tenant, { query, limit: atOnce + 1 })
  if (all.length <= atOnce) {
    yield all
    return
  }
  const slices = Math.ceil((await countRows(client, tenant, query)) / (atOnce * PART_OF_SLICE))
  const startOf = (slice: number): number => Math.floor((slice * PLACES) / slices)
  for (let slice = 0; slice < slices; slice += 1)
    yield await readEntries(client, tenant, { query, places: [startOf(slice), startOf(slice + 1)] })
}

const settingsOf = ({ inBackground }: EntriesQuery): Record<string, string> =>
  inBackground ? { max_threads: '1' } : {}

type Part = {
  readonly query: EntriesQuery
  readonly limit?: number
  /** Only from the first of these places up to the second. */
  readonly places?: readonly [number, number]
}

async function readEntries(
  client: ClickHouseClient,
  tenant: Tenant,
  { query, limit, places }: Part,
): Promise<ReceiptEntry[]> {
  const filter = tenantFilter(tenant)
  const conditions = [
    ...countedSql(filter, query),
    ...(places ? [`${COARSE_PLACE} >= ${places[0]} AND ${COARSE_PLACE} < ${places[1]}`] : []),
  ]
  const contentHash =
    query.proven === undefined
      ? `''`
      : `if(reference = ${filter.bind(query.proven, 'String')}, toString(content_hash), '')`
  const rows = await selectRows<Row>(
    client,
    `SELECT hex(SHA256(concat(unhex('00'), unhex(content_hash), reference))), customer_key, meter_reference,
       toUnixTimestamp64Milli(timestamp), subscription, properties, value_references, log_partition, log_seq, ${contentHash}
     FROM usage_events FINAL WHERE ${conditions.join(' AND ')}
     ORDER BY ${PLACE} ${limit === undefined ? '' : `LIMIT ${filter.bind(limit, 'UInt32')}`}
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
    settingsOf(query),
  )
  return rows.map(entryOf)
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

function entryOf(row: Row): ReceiptEntry {
  const [leaf, customerKey, meterReference, timestamp, subscription, properties, names, partition, seq, contentHash] =
    row
  return {
    event: {
      customerKey,
      meterReference,
      timestamp: instantOf(Number(timestamp)),
      subscription,
      properties,
      values: names.map(reference => ({ reference })),
      partition,
      seq: Number(seq),
    },
    leaf: Buffer.from(leaf, 'hex'),
    contentHash: contentHash === '' ? null : contentHash,
  }
}
