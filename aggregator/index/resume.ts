// Where a partition starts reading, and whether its index must be rebuilt first.
import type { JetStreamManager } from '@nats-io/jetstream'
import { streamName } from '../../shared/contracts/streams.ts'
import type { StreamState } from '../../shared/log/streams.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Position } from '../outcome.ts'
import type { DiskIndex } from './first-seen-index.ts'
import { compareKeys, LINES, RECORD_BYTES } from './record.ts'

export type ResumePlan =
  | { readonly kind: 'replay'; readonly after: number }
  | { readonly kind: 'rebuild'; readonly after: number; readonly from: Position }
  | { readonly kind: 'refuse'; readonly reason: string }

/**
 * Decides from the index's position, ClickHouse's position and the stream. Reading starts after the earlier of the two
 * positions, so a lost tail of either is written again. Refuses a stream that does not hold what was already processed:
 * its sequences would be handed out twice, and the places in the index would lie.
 */
export function planResume(index: Position | null, stored: Position | null, stream: StreamState): ResumePlan {
  const latest = laterOf(index, stored)
  if (latest === null) return { kind: 'replay', after: 0 }
  if (stream.lastSeq < latest.seq) return refusal(stream, latest, `it ends at ${stream.lastSeq}`)
  if (stream.created !== latest.streamCreated && stream.firstSeq <= latest.seq) {
    return refusal(stream, latest, `it was created ${stream.created}, not ${latest.streamCreated}`)
  }
  if (stored === null) return { kind: 'replay', after: 0 }
  if (index === null) return { kind: 'rebuild', after: stored.seq, from: stored }
  const logHoldsTheRest = stream.firstSeq <= index.seq + 1
  if (index.seq < stored.seq && !logHoldsTheRest) return { kind: 'rebuild', after: stored.seq, from: stored }
  return { kind: 'replay', after: Math.min(index.seq, stored.seq) }
}

/** Times of one message, read in two ways, differ by no more. */
const SAME_MESSAGE_MS = 1

/**
 * The stream, as the one that was read so far when it is: one restored from a backup has a new time of creation, and still holds the
 * very message of the latest position, stored at that time.
 */
export async function recogniseRestored(
  jsm: JetStreamManager,
  positions: { readonly index: Position | null; readonly stored: Position | null },
  stream: StreamState,
): Promise<StreamState> {
  const latest = laterOf(positions.index, positions.stored)
  if (latest === null || latest.streamCreated === stream.created) return stream
  if (stream.firstSeq > latest.seq || stream.lastSeq < latest.seq) return stream
  const message = await jsm.streams.getMessage(streamName(stream.partition), { seq: latest.seq })
  const isSame = message !== null && Math.abs(message.time.getTime() - latest.timeMs) <= SAME_MESSAGE_MS
  return isSame ? { ...stream, created: latest.streamCreated } : stream
}

function laterOf(a: Position | null, b: Position | null): Position | null {
  if (a === null || b === null) return a ?? b
  return a.seq >= b.seq ? a : b
}

const refusal = (stream: StreamState, latest: Position, found: string): ResumePlan => ({
  kind: 'refuse',
  reason:
    `Stream USAGE_${stream.partition} does not hold what was already processed: position ${latest.seq} is stored, but ${found}. ` +
    `It was lost or replaced. Restore it, or create it again with first_seq above ${latest.seq}.`,
})

/** The positions ClickHouse holds, by partition. */
export async function storedPositions(client: ClickHouseClient): Promise<Map<number, Position>> {
  const rows = await selectRows<[number, string, string, string]>(
    client,
    'SELECT log_partition, log_seq, toUnixTimestamp64Milli(log_time), stream_created FROM usage_positions FINAL',
  )
  return new Map(
    rows.map(([partition, seq, timeMs, streamCreated]) => [
      partition,
      { seq: Number(seq), timeMs: Number(timeMs), streamCreated },
    ]),
  )
}

/**
 * Claims in one answer, which bounds what a ClickHouse that does not stream holds in memory: 128 MB. Each answer reads the
 * hashes of the whole table, so smaller ones would cost time.
 */
const CLAIMS_PER_ANSWER = 4_000_000

/**
 * Replaces the index by every event that ClickHouse holds of the partition, deleted ones too; it is complete up to
 * `position`, which ClickHouse says. ClickHouse sorts, and answers in the bytes of a segment, so this process copies: its
 * memory is the filter of the index, whatever the number. Resolves with that number.
 */
export async function rebuildIndex(
  client: ClickHouseClient,
  index: DiskIndex,
  of: { readonly partition: number; readonly position: Position; readonly stop: AbortSignal },
): Promise<number> {
  const params = { partition: of.partition }
  const [[count = '0'] = []] = await selectRows<[string]>(
    client,
    'SELECT count() FROM usage_events WHERE log_partition = {partition:UInt16}',
    params,
  )
  return await index.replaceBy(storedClaims(client, Number(count), of), Number(count), of.position)
}

async function* storedClaims(
  client: ClickHouseClient,
  count: number,
  { partition, stop }: { readonly partition: number; readonly stop: AbortSignal },
): AsyncGenerator<Buffer> {
  const answers = Math.max(1, Math.ceil(count / CLAIMS_PER_ANSWER))
  for (let answer = 0; answer < answers; answer += 1) {
    const { stream } = await client.exec({
      // The first four bytes of a hash are spread evenly, so they cut evenly.
      query: `SELECT toFixedString(unhex(id_hash), 16), toFixedString(unhex(content_hash), 8),
          toUInt64(log_seq * ${LINES} + log_line) AS place
        FROM usage_events WHERE log_partition = {partition:UInt16}
          AND substring(id_hash, 1, 8) >= {from:String} AND substring(id_hash, 1, 8) < {to:String}
        ORDER BY id_hash, place FORMAT RowBinary`,
      query_params: { partition, from: cutAt(answer, answers), to: cutAt(answer + 1, answers) },
      abort_signal: stop,
      // A fault half-way is then a fault of the request and not bytes at the end of the answer.
      clickhouse_settings: { wait_end_of_query: 1 },
    })
    yield* distinctRecords(stream)
  }
}

/** Where a cut of the hashes begins, in the order of text; the last ends behind every hash. */
const cutAt = (cut: number, cuts: number): string =>
  cut === cuts
    ? 'g'
    : Math.floor((cut * 2 ** 32) / cuts)
        .toString(16)
        .padStart(8, '0')

/** Whole records, the first of each key: several versions of a row say the same place. */
async function* distinctRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  const last = Buffer.alloc(RECORD_BYTES)
  let any = false
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const out = Buffer.allocUnsafe(bytes.length)
    let used = 0
    let at = 0
    for (; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
      if (any && compareKeys(last, 0, bytes, at) === 0) continue
      bytes.copy(last, 0, at, at + RECORD_BYTES)
      last.copy(out, used)
      used += RECORD_BYTES
      any = true
    }
    yield out.subarray(0, used)
    rest = bytes.subarray(at)
  }
  if (rest.length > 0) throw new Error('usage_events could not be read to its end')
}
