// Where a reader of events stands: at one record, by its own time and its place in the log. Neither ever changes, so what follows a
// record is the same whatever arrives meanwhile.
import { eventId } from '../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { instantSql, tenantFilter, type UsageFilter } from './usage-sql.ts'

/** Where a record stands in the log; unique, also among records of one reference. */
export type LogPlace = { readonly partition: number; readonly seq: number; readonly line: number }

/** What orders a record in a list. */
export type EventPosition = {
  readonly timestamp: Instant
  readonly idHash: string
  readonly place: LogPlace
  readonly duplicate: boolean
}

/** A cursor as text: the event's id, or of a duplicate, which shares it, the id and its `log_position`. */
export const cursorText = ({ idHash, place, duplicate }: Omit<EventPosition, 'timestamp'>): string =>
  duplicate ? `${eventId(idHash)}.${place.partition}/${place.seq}/${place.line}` : eventId(idHash)

export type EventCursor = { readonly idHash: string; readonly place: LogPlace | null }

/** What a cursor names; null for a text that is none. */
export function parseCursor(text: string): EventCursor | null {
  const match = /^meda_([0-9a-f]{32})(?:\.([0-9]{1,5})\/([0-9]{1,15})\/([0-9]{1,9}))?$/.exec(text)
  if (!match) return null
  const [, idHash = '', partition, seq, line] = match
  const place = partition === undefined ? null : { partition: Number(partition), seq: Number(seq), line: Number(line) }
  return { idHash, place }
}

/** Where the record stands that a cursor names; null when the tenant has none. */
export async function findPosition(
  client: ClickHouseClient,
  tenant: Tenant,
  { idHash, place }: EventCursor,
): Promise<EventPosition | null> {
  const filter = tenantFilter(tenant)
  const id = `id_hash = ${filter.bind(idHash, 'String')}`
  const columns = 'toUnixTimestamp64Milli(timestamp), log_partition, log_seq, log_line'
  const sql =
    place === null
      ? `SELECT ${columns} FROM usage_events WHERE ${filter.scope} AND ${id} ORDER BY version DESC LIMIT 1`
      : `SELECT ${columns} FROM usage_duplicates WHERE ${filter.scope} AND ${id}
           AND log_partition = ${filter.bind(place.partition, 'UInt16')} AND log_seq = ${filter.bind(place.seq, 'UInt64')}
           AND log_line = ${filter.bind(place.line, 'UInt32')} LIMIT 1`
  const rows = await selectRows<[string, number, string, number]>(client, sql, filter.params)
  return (
    rows.map(([timestamp, partition, seq, line]) => ({
      idHash,
      timestamp: instantOf(Number(timestamp)),
      place: { partition, seq: Number(seq), line },
      duplicate: place !== null,
    }))[0] ?? null
  )
}

/** Newest by its own time first; of one reference and time the event, then its repeats as they stand in the log. */
export const NEWEST_FIRST = 'timestamp DESC, id_hash, repeat'
export const OLDEST_FIRST = 'timestamp, id_hash DESC, repeat DESC'

/** More lines than a message of the log holds, so that a place in a partition is one number. */
export const LINES_MAX = 2 ** 20

/** A position as the columns that order records have it. */
export type OrderedAt = { readonly timestamp: Instant; readonly idHash: string; readonly repeat: string }
export const orderedAt = ({ timestamp, idHash, duplicate, place: { seq, line } }: EventPosition): OrderedAt => ({
  timestamp,
  idHash,
  repeat: duplicate ? String(BigInt(seq) * BigInt(LINES_MAX) + BigInt(line)) : '0',
})

export type Beyond = {
  /** OLDER: what follows the position, newest first. NEWER: what precedes it. */
  readonly side: 'OLDER' | 'NEWER'
  readonly position: OrderedAt
  /** How far in time is looked. */
  readonly until: Instant | undefined
}

/** The conditions for what lies beyond a position in a list that is newest first: by the time of records, and by what else orders them. */
export function beyondSql(filter: UsageFilter, { side, position, until }: Beyond): { time: string; further: string } {
  const time = instantSql(filter, position.timestamp)
  const its = `(toFixedString(${filter.bind(position.idHash, 'String')}, 32), ${filter.bind(position.repeat, 'UInt64')})`
  const [time1, time2, further] = side === 'OLDER' ? ['<=', '<', '>'] : ['>=', '>', '<']
  const bound =
    until === undefined ? '' : ` AND timestamp ${side === 'OLDER' ? '>=' : '<='} ${instantSql(filter, until)}`
  return {
    time: `timestamp ${time1} ${time}${bound}`,
    further: `(timestamp ${time2} ${time} OR (id_hash, repeat) ${further} ${its})`,
  }
}
