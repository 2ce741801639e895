// The very events that an invoice counted, as the log had them when it was closed: those up to its positions, and of what was deleted
// since also that. Rows keep the place of their event, and a deletion shows in their version (aggregator/steps/rows.ts).
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, type Interval, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { textSql } from './condition-sql.ts'
import { behindSql, instantSql, tenantFilter, type UsageFilter, withinAny } from './usage-sql.ts'

/** Which events: of these names, on these meters, in this time. */
export type CountedSource = {
  readonly customerKeys: readonly string[]
  readonly meterReferences: readonly string[]
  readonly interval: Interval
  /** By partition of the log: up to there; null for everything there is. */
  readonly upTo: readonly number[] | null
}

export type CountedQuery = CountedSource & {
  /** Only what follows this event, in the order of time. */
  readonly after?: { readonly timestamp: Instant; readonly idHash: string }
  /** Only the event with this hash. */
  readonly idHash?: string
  /** Only those that were amended or deleted after `upTo`. */
  readonly onlyChanged?: true
  readonly limit?: number
}

export type CountedEvent = {
  readonly idHash: string
  readonly contentHash: string
  readonly reference: string
  readonly customerKey: string
  readonly meterReference: string
  readonly timestamp: Instant
  readonly subscription: string
  readonly properties: Readonly<Record<string, string>>
  readonly values: readonly { readonly reference: string; readonly quantity: string; readonly currency: string }[]
  readonly partition: number
  readonly seq: number
  /** What happened to it after `upTo`; what it says is then what it says now. */
  readonly since: 'AMENDED' | 'DELETED' | null
}

type Row = [
  idHash: string,
  contentHash: string,
  reference: string,
  customerKey: string,
  meterReference: string,
  timestamp: string,
  subscription: string,
  properties: Record<string, string>,
  valueReferences: string[],
  quantities: string[],
  currencies: string[],
  partition: number,
  seq: string,
  changed: number,
]

// tombstoneVersion and amendmentVersion of aggregator/steps/rows.ts: from these on, with the place of the record in the lower bits.
const DELETED = 'bitShiftLeft(toUInt64(1), 62)'
const AMENDED = 'bitShiftLeft(toUInt64(1), 61)'
const LINE_BITS = 20

const place = `bitShiftRight(version - if(version >= ${DELETED}, ${DELETED}, ${AMENDED}), ${LINE_BITS})`
/** Whether an event was amended or deleted after these positions. */
const changedAfter = (upTo: readonly number[] | null): string =>
  upTo === null ? '0' : behindSql(upTo).replace('log_seq', place)

/** Whether a row is one of them, as conditions that all must hold. */
export function countedSql(
  filter: UsageFilter,
  { customerKeys, meterReferences, interval, upTo }: CountedSource,
): readonly string[] {
  // Names are texts of the tenant, and may be many: digits in the statement (condition-sql.ts).
  const texts = (list: readonly string[]): string => [...new Set(list)].map(textSql).join(', ')
  return [
    filter.scope,
    `customer_key IN (${texts(customerKeys)})`,
    `meter_reference IN (${texts(meterReferences)})`,
    withinAny('timestamp', [interval]),
    `NOT ${upTo === null ? '0' : behindSql(upTo)}`,
    `(deleted = 0 OR ${changedAfter(upTo)})`,
  ]
}

/** The events in the order of time, then of their ids. */
export async function countedEvents(
  client: ClickHouseClient,
  tenant: Tenant,
  query: CountedQuery,
): Promise<CountedEvent[]> {
  const { customerKeys, meterReferences, upTo, after, idHash, onlyChanged, limit } = query
  if (customerKeys.length === 0 || meterReferences.length === 0) return []
  const filter = tenantFilter(tenant)
  const conditions = [
    ...countedSql(filter, query),
    ...(onlyChanged ? [`version >= ${AMENDED} AND ${changedAfter(upTo)}`] : []),
    ...(idHash === undefined ? [] : [`id_hash = ${filter.bind(idHash, 'String')}`]),
    ...(after === undefined
      ? []
      : [
          `timestamp >= ${instantSql(filter, after.timestamp)}`,
          `(timestamp > ${instantSql(filter, after.timestamp)} OR toString(id_hash) > ${filter.bind(after.idHash, 'String')})`,
        ]),
  ]
  const rows = await selectRows<Row>(
    client,
    `SELECT toString(id_hash), toString(content_hash), reference, customer_key, meter_reference, toUnixTimestamp64Milli(timestamp),
       subscription, properties, value_references, value_quantities, value_currencies, log_partition, log_seq,
       if(version >= ${AMENDED} AND ${changedAfter(upTo)}, if(deleted = 1, 2, 1), 0)
     FROM usage_events FINAL WHERE ${conditions.join(' AND ')}
     ORDER BY timestamp, id_hash ${limit === undefined ? '' : `LIMIT ${filter.bind(limit, 'UInt32')}`}
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    filter.params,
  )
  return rows.map(eventOf)
}

function eventOf(row: Row): CountedEvent {
  const [idHash, contentHash, reference, customerKey, meterReference, timestamp, subscription, properties, ...rest] =
    row
  const [valueReferences, quantities, currencies, partition, seq, changed] = rest
  return {
    idHash,
    contentHash,
    reference,
    customerKey,
    meterReference,
    timestamp: instantOf(Number(timestamp)),
    subscription,
    properties,
    values: valueReferences.map((value, place) => ({
      reference: value,
      quantity: quantities[place] ?? '0',
      currency: currencies[place] ?? '',
    })),
    partition,
    seq: Number(seq),
    since: changed === 2 ? 'DELETED' : changed === 1 ? 'AMENDED' : null,
  }
}
