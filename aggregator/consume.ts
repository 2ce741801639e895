// The order in which a batch of the log takes effect, and the only file that commits a position:
// decode -> claim in the index -> raw rows -> marks -> position. A crash between any two steps leaves messages after the
// position, which are read again and do the same again.
import { assertNever } from '../shared/errors.ts'
import type { Failpoints } from '../shared/failpoint.ts'
import { meterKey } from '../shared/usage/meter-records.ts'
import type { FirstSeenIndex } from './index/first-seen-index.ts'
import type { MeterLists } from './meter-lists/meter-lists.ts'
import type { BucketMark, DeadLine, EventLine, LogMessage, Outcome, PartitionBatch, Position } from './outcome.ts'
import type { Deletion, UsageSink } from './sinks/usage-sink.ts'
import { applyAmendments, bucketOfRow, type Control } from './steps/amend.ts'
import { decodeLogMessage, type LogRecord, type PartitionOfLog } from './steps/decode.ts'
import { decideFirstSeen } from './steps/first-seen.ts'
import { deadLetterRow, duplicateRow, eventRow, marksOf, type Touch } from './steps/rows.ts'

/** What was read of one partition: messages in order, none missing between them and the position before. */
export type PartitionMessages = PartitionOfLog & {
  readonly messages: readonly LogMessage[]
  readonly streamCreated: string
  /** The position before the first message. */
  readonly after: number
}
export type Counts = { kept: number; duplicate: number; deleted: number; amended: number; dead: number }
export type StoredRound = { readonly marks: readonly BucketMark[]; readonly counts: Counts }

export type StoreDeps = {
  readonly indexes: ReadonlyMap<number, FirstSeenIndex>
  readonly sink: UsageSink
  readonly meterLists: Pick<MeterLists, 'storing'>
  readonly failpoints: Failpoints
}

const indexOf = (indexes: ReadonlyMap<number, FirstSeenIndex>, partition: number): FirstSeenIndex => {
  const index = indexes.get(partition)
  if (index === undefined) throw new Error(`partition ${partition} has no index`)
  return index
}

/**
 * Decides every record of the messages and records the claims. Batches of a partition are prepared in order; a batch may
 * be prepared while the one before is being stored, because claims depend on the log alone. Throws UnknownFormatError.
 */
export async function prepareBatch(
  deps: Pick<StoreDeps, 'indexes' | 'failpoints'>,
  read: PartitionMessages,
): Promise<PartitionBatch> {
  const index = indexOf(deps.indexes, read.partition)
  const { outcomes, claims } = decideFirstSeen([...recordsOf(read)], index.find)
  await index.claim(claims)
  await deps.failpoints('aggregator.after-index')
  return { partition: read.partition, outcomes, position: positionAfter(read) }
}

function* recordsOf(read: PartitionMessages): Generator<LogRecord> {
  let expected = read.after + 1
  for (const message of read.messages) {
    if (message.seq > expected) yield gap(expected, message.seq)
    yield* decodeLogMessage(message, read)
    expected = message.seq + 1
  }
}

/** Messages that expired before they were read; their place is kept so that an operator finds out. */
const gap = (from: number, to: number): DeadLine => ({
  kind: 'dead',
  seq: from,
  line: 0,
  reason: 'LOG_GAP',
  text: `messages ${from} to ${to - 1} are no longer in the log`,
})

function positionAfter({ messages, streamCreated }: PartitionMessages): Position {
  const last = messages.at(-1)
  if (last === undefined) throw new Error('a batch holds at least one message')
  return { seq: last.seq, timeMs: last.timeMs, streamCreated }
}

/**
 * Inserts what a round keeps of its events. It may be done before its turn, while rounds before are still being stored, and
 * for nothing: rows that no position covers are written again, the same, by the next reader of their messages.
 */
export async function insertRows(
  deps: Pick<StoreDeps, 'sink' | 'meterLists' | 'failpoints'>,
  rows: Rows,
): Promise<void> {
  await deps.failpoints('aggregator.before-insert')
  const { events, duplicates, arrivals } = rows
  if (arrivals.seconds.size === 0) return
  const stored = await deps.meterLists.storing(deps.sink, arrivals)
  try {
    await deps.sink.insertEvents(events)
    await deps.sink.insertDuplicates(duplicates)
  } finally {
    stored()
  }
}

/**
 * Stores the rest of a round whose rows are inserted, and moves the positions of its batches, which may be of any partitions.
 * Idempotent as a whole: a caller that does not know whether it worked calls it again with the same batches, in the same order.
 */
export async function storeRound(
  deps: Omit<StoreDeps, 'meterLists'>,
  batches: readonly PartitionBatch[],
  rows: Rows,
): Promise<StoredRound> {
  const { sink, failpoints } = deps
  // Amendments first: a tombstone keeps what the event said when it was deleted.
  const amended = await storeAmendments(sink, rows)
  const { touches, notFound } = await applyDeletions(sink, rows)
  await sink.copyChanged(rows.controls)
  await sink.insertDeadLetters([...rows.deadLetters, ...amended.notFound, ...notFound])
  await failpoints('aggregator.after-insert')
  // After the rows they speak of: a roll-up that covers a mark has then read every row behind it.
  const marks = batches.flatMap(({ partition }) => marksOf(partition, touches.get(partition) ?? []))
  await sink.insertMarks(marks)
  await failpoints('aggregator.after-marks')
  await sink.insertPositions(batches.map(({ partition, position }) => ({ partition, ...position })))
  await failpoints('aggregator.after-positions')
  for (const { partition, position } of batches) await indexOf(deps.indexes, partition).commitPosition(position)
  return { marks, counts: { ...rows.counts, dead: rows.counts.dead + amended.notFound.length + notFound.length } }
}

/** What a round writes. */
export type Rows = {
  events: string[]
  duplicates: string[]
  /** Of events and repeats: the seconds in which they were received (since 1970), and their meters. */
  arrivals: { seconds: Set<number>; meters: Set<string> }
  deadLetters: string[]
  deletions: (Deletion & { partition: number; dead: DeadLine })[]
  /** Amendments and deletions in the order of their partition. */
  controls: Control[]
  touches: Map<number, Touch[]>
  counts: Counts
}

/** The rows of batches of any partitions. Pure. */
export function rowsOf(batches: readonly PartitionBatch[]): Rows {
  const counts = { kept: 0, duplicate: 0, deleted: 0, amended: 0, dead: 0 }
  const rows: Rows = {
    events: [],
    duplicates: [],
    arrivals: { seconds: new Set(), meters: new Set() },
    deadLetters: [],
    deletions: [],
    controls: [],
    touches: new Map(),
    counts,
  }
  for (const { partition, outcomes } of batches) {
    const touches = rows.touches.get(partition) ?? []
    rows.touches.set(partition, touches)
    for (const outcome of outcomes) sortOutcome(rows, touches, partition, outcome)
  }
  return rows
}

function sortOutcome(rows: Rows, touches: Touch[], partition: number, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'keep':
      rows.events.push(eventRow(partition, outcome.record))
      addArrival(rows, outcome.record)
      touches.push({ bucket: outcome.record.bucket, seq: outcome.record.seq })
      rows.counts.kept += 1
      return
    case 'duplicate':
      rows.duplicates.push(duplicateRow(partition, outcome))
      addArrival(rows, outcome.record)
      rows.counts.duplicate += 1
      return
    case 'delete':
      rows.deletions.push({
        partition,
        ...outcome.record,
        dead: { ...outcome.record, kind: 'dead', reason: 'DELETE_NOT_FOUND' },
      })
      rows.controls.push({ ...outcome.record, partition })
      rows.counts.deleted += 1
      return
    case 'amend':
      rows.controls.push({ ...outcome.record, partition })
      rows.counts.amended += 1
      return
    case 'dead':
      rows.deadLetters.push(deadLetterRow(partition, outcome.record))
      rows.counts.dead += 1
      return
    default:
      assertNever(outcome)
  }
}

function addArrival({ arrivals }: Rows, { receivedSecond, bucket }: EventLine): void {
  arrivals.seconds.add(receivedSecond)
  arrivals.meters.add(meterKey(bucket.platformId, bucket.environment, bucket.meterReference))
}

async function storeAmendments(sink: UsageSink, rows: Rows): Promise<{ notFound: string[] }> {
  const amendments = rows.controls.filter(control => control.kind === 'amend')
  if (amendments.length === 0) return { notFound: [] }
  const found = await sink.findEvents(amendments)
  const { events, history } = applyAmendments(found, rows.controls)
  await sink.insertAmendments(history)
  await sink.insertEvents(events)
  const notFound: string[] = []
  for (const amendment of amendments) {
    const { partition, seq, line, text } = amendment
    const row = found.get(amendment.idHash)
    // Also when it changes nothing now: the process that wrote its row may have ended before the mark.
    if (row !== undefined) rows.touches.get(partition)?.push({ bucket: bucketOfRow(row), seq })
    else notFound.push(deadLetterRow(partition, { kind: 'dead', seq, line, text, reason: 'AMEND_NOT_FOUND' }))
  }
  return { notFound }
}

async function applyDeletions(sink: UsageSink, rows: Rows): Promise<{ touches: Rows['touches']; notFound: string[] }> {
  if (rows.deletions.length === 0) return { touches: rows.touches, notFound: [] }
  const buckets = await sink.deleteEvents(rows.deletions)
  const notFound: string[] = []
  for (const { partition, idHash, seq, dead } of rows.deletions) {
    const bucket = buckets.get(idHash)
    if (bucket === undefined) notFound.push(deadLetterRow(partition, dead))
    else rows.touches.get(partition)?.push({ bucket, seq })
  }
  return { touches: rows.touches, notFound }
}
