// Stream = kept + duplicates + refused + control: every record of a partition is in exactly one table, at its place, with
// its content, and nothing else is there.
import type { JetStreamClient } from '@nats-io/jetstream'
import type { LogRecord, PartitionOfLog } from '../../aggregator/steps/decode.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import type { Findings } from './findings.ts'
import { type LogChunk, readChunks } from './read-log.ts'
import {
  changedEvents,
  contentOfLine,
  placeOf,
  type StoredRow,
  storedDeadLetters,
  storedDuplicates,
  storedEvents,
} from './stored-rows.ts'

export type LogCounts = { records: number; kept: number; duplicates: number; refused: number; control: number }

type Deps = { readonly js: JetStreamClient; readonly client: ClickHouseClient; readonly findings: Findings }

/** Compares one partition from `from` to `to`. Bounded memory, whatever the log holds. */
export async function compareLog(
  { js, client, findings }: Deps,
  log: PartitionOfLog,
  range: { readonly from: number; readonly to: number },
): Promise<LogCounts> {
  const counts: LogCounts = { records: 0, kept: 0, duplicates: 0, refused: 0, control: 0 }
  for await (const chunk of readChunks(js, log, range)) {
    const stretch = { partition: log.partition, from: chunk.from, to: chunk.to }
    const events = await storedEvents(client, stretch)
    const duplicates = await storedDuplicates(client, stretch)
    const dead = await storedDeadLetters(client, stretch)
    const stored: Stored = {
      events: byPlace(events),
      duplicates: byPlace(duplicates),
      dead: new Map(dead.map(each => [placeOf(each), each.reason])),
      changed: await changedEvents(client, controlsOf(chunk)),
    }
    for (const record of chunk.records) compareRecord({ findings, counts }, log.partition, record, stored)
    findStrangers(findings, log.partition, chunk, stored)
  }
  return counts
}

type Stored = {
  readonly events: ReadonlyMap<number, readonly StoredRow[]>
  readonly duplicates: ReadonlyMap<number, readonly StoredRow[]>
  readonly dead: ReadonlyMap<number, string>
  readonly changed: ReadonlySet<string>
}

function byPlace(rows: readonly StoredRow[]): Map<number, StoredRow[]> {
  const found = new Map<number, StoredRow[]>()
  for (const row of rows) {
    const place = placeOf(row)
    const here = found.get(place)
    if (here) here.push(row)
    else found.set(place, [row])
  }
  return found
}

const controlsOf = ({ records }: LogChunk): string[] => [
  ...new Set(records.flatMap(record => (record.kind === 'event' || record.kind === 'dead' ? [] : [record.idHash]))),
]

const shown = (partition: number, { seq, line }: { seq: number; line: number }): string =>
  `partition ${partition}, message ${seq}, line ${line}`

function compareRecord(
  { findings, counts }: { findings: Findings; counts: LogCounts },
  partition: number,
  record: LogRecord,
  stored: Stored,
): void {
  const where = shown(partition, record)
  const refused = stored.dead.has(placeOf(record))
  counts.records += 1
  if (record.kind === 'dead') {
    if (refused) counts.refused += 1
    else findings.add('NOT_STORED', `${where}: ${record.reason}, and no dead letter`)
    return
  }
  if (record.kind !== 'event') {
    if (refused) counts.refused += 1
    else counts.control += 1
    if (!refused && !stored.changed.has(record.idHash))
      findings.add('NOT_APPLIED', `${where}: ${record.kind} of event meda_${record.idHash}`)
    return
  }
  const own = (rows: readonly StoredRow[] = []) => rows.filter(row => row.idHash === record.idHash)
  const kept = own(stored.events.get(placeOf(record)))
  const repeated = own(stored.duplicates.get(placeOf(record)))
  const name = `${where}: ${referenceOf(record.text)}`
  if (kept.length > 0) counts.kept += 1
  else if (repeated.length > 0) counts.duplicates += 1
  else findings.add('NOT_STORED', name)
  if (kept.length > 0 && repeated.length > 0) findings.add('STORED_TWICE', name)
  const content = contentOfLine(record.text)
  if (kept.some(row => row.content !== null && row.content !== content)) findings.add('OTHER_CONTENT', name)
}

const REFERENCE_AT = 4

function referenceOf(text: string): string {
  const fields: unknown = JSON.parse(text)
  return Array.isArray(fields) ? `reference ${JSON.stringify(fields[REFERENCE_AT])}` : 'no event'
}

/** Rows at places where the log has nothing, or something else. */
function findStrangers(findings: Findings, partition: number, chunk: LogChunk, stored: Stored): void {
  const records = new Map(chunk.records.map(record => [placeOf(record), record]))
  for (const [table, rows] of [
    ['usage_events', stored.events],
    ['usage_duplicates', stored.duplicates],
  ] as const) {
    for (const row of [...rows.values()].flat()) {
      const record = records.get(placeOf(row))
      if (record?.kind === 'event' && record.idHash === row.idHash) continue
      findings.add('NOT_IN_LOG', `${shown(partition, row)}: reference ${JSON.stringify(row.reference)} in ${table}`)
    }
  }
  for (const [place, reason] of stored.dead) {
    // A gap is written at the first place the log no longer had when it was read.
    if (reason === 'LOG_GAP' || records.has(place)) continue
    const at = { seq: Math.floor(place / placeOf({ seq: 1, line: 0 })), line: place % placeOf({ seq: 1, line: 0 }) }
    findings.add('NOT_IN_LOG', `${shown(partition, at)}: ${reason} in usage_dead_letters`)
  }
}
