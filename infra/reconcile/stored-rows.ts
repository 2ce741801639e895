// What ClickHouse holds of a stretch of the log, by the place each row says it stands at.
import { EVENT_FIELDS } from '../../shared/contracts/usage-event.ts'
import { decimal, plain } from '../../shared/decimal.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'

export type Range = { readonly partition: number; readonly from: number; readonly to: number }
export type StoredRow = {
  readonly seq: number
  readonly line: number
  readonly idHash: string
  readonly reference: string
  /** Null once an amendment or a deletion has replaced the row as it was sent. */
  readonly content: string | null
}
/** A line within a message is below 2^20: a message has less than 1 MB. */
const LINES_MAX = 2 ** 20

export const placeOf = ({ seq, line }: { readonly seq: number; readonly line: number }): number =>
  seq * LINES_MAX + line

/** Rows that a control record made carry a version above every position. */
const CONTROL_VERSION = 2n ** 61n

const TIMES: readonly string[] = ['timestamp', 'received_at']
const COLUMNS = EVENT_FIELDS.map(name => (TIMES.includes(name) ? `toUnixTimestamp64Milli(${name})` : name)).join(', ')
const WHERE = 'log_partition = {partition:UInt16} AND log_seq BETWEEN {from:UInt64} AND {to:UInt64}'

type EventRow = [seq: string, line: number, version: string, ...fields: unknown[]]

/** Every version of every event of the range. */
export async function storedEvents(client: ClickHouseClient, range: Range): Promise<StoredRow[]> {
  const sql = `SELECT log_seq, log_line, version, ${COLUMNS} FROM usage_events WHERE ${WHERE}`
  const rows = await selectRows<EventRow>(client, sql, range)
  return rows.map(([seq, line, version, ...fields]) => ({
    seq: Number(seq),
    line,
    idHash: String(fields[0]),
    reference: String(fields[4]),
    content: version === seq ? contentOfFields(fields) : null,
  }))
}

/** Rows of usage_duplicates. */
export async function storedDuplicates(client: ClickHouseClient, range: Range): Promise<StoredRow[]> {
  const sql = `SELECT log_seq, log_line, toString(id_hash), reference FROM usage_duplicates WHERE ${WHERE}`
  const rows = await selectRows<[string, number, string, string]>(client, sql, range)
  return rows.map(([seq, line, idHash, reference]) => ({ seq: Number(seq), line, idHash, reference, content: null }))
}

/** Dead letters, with their reasons. */
export async function storedDeadLetters(
  client: ClickHouseClient,
  range: Range,
): Promise<{ seq: number; line: number; reason: string }[]> {
  const sql = `SELECT log_seq, log_line, reason FROM usage_dead_letters WHERE ${WHERE}`
  const rows = await selectRows<[string, number, string]>(client, sql, range)
  return rows.map(([seq, line, reason]) => ({ seq: Number(seq), line, reason }))
}

const HASHES_A_STATEMENT = 200

/** Those of these events that a deletion or an amendment has changed. */
export async function changedEvents(client: ClickHouseClient, idHashes: readonly string[]): Promise<Set<string>> {
  const changed = new Set<string>()
  for (let at = 0; at < idHashes.length; at += HASHES_A_STATEMENT) {
    const rows = await selectRows<[string]>(
      client,
      `SELECT DISTINCT toString(id_hash) FROM usage_events
       WHERE id_hash IN {hashes:Array(String)} AND version >= ${CONTROL_VERSION}`,
      { hashes: idHashes.slice(at, at + HASHES_A_STATEMENT) },
    )
    for (const [idHash] of rows) changed.add(idHash)
  }
  return changed
}

/** All that a sender chose, as one comparable text: of a row, or of a line of the log. */
export function contentOfFields(fields: readonly unknown[]): string {
  const normal = EVENT_FIELDS.map((name, place) => {
    const value = fields[place]
    if (name === 'value_quantities') return (value as string[]).map(quantity => plain(decimal(quantity)))
    if (name === 'properties')
      return Object.entries(value as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))
    return TIMES.includes(name) ? Number(value) : value
  })
  return JSON.stringify(normal)
}

/** As contentOfFields, of a line of the log: its times are seconds with three decimals. */
export function contentOfLine(text: string): string {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields)) throw new Error('not an event record')
  const times = fields.map((value, place) =>
    TIMES.includes(EVENT_FIELDS[place] ?? '') ? Math.round(Number(value) * 1000) : value,
  )
  return contentOfFields(times)
}
