// Where a partition starts reading, and whether its index must be rebuilt first.
import type { StreamState } from '../../shared/log/streams.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Claim, Position } from '../outcome.ts'
import type { FirstSeenIndex } from './first-seen-index.ts'

export type ResumePlan =
  | { readonly kind: 'replay' | 'rebuild'; readonly after: number }
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
  if (index === null) return { kind: 'rebuild', after: stored.seq }
  const logHoldsTheRest = stream.firstSeq <= index.seq + 1
  if (index.seq < stored.seq && !logHoldsTheRest) return { kind: 'rebuild', after: stored.seq }
  return { kind: 'replay', after: Math.min(index.seq, stored.seq) }
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

/** Claims read and written at a time, which bounds the memory of a rebuild. */
const REBUILD_CLAIMS_MAX = 200_000

/** Records in the index every event that ClickHouse holds of the partition, deleted ones too. Resolves with their number. */
export async function rebuildIndex(
  client: ClickHouseClient,
  index: FirstSeenIndex,
  partition: number,
): Promise<number> {
  const params = { partition }
  const [count] = await selectRows<[string]>(
    client,
    'SELECT count() FROM usage_events WHERE log_partition = {partition:UInt16}',
    params,
  )
  const slices = Math.max(1, Math.ceil(Number(count?.[0] ?? 0) / REBUILD_CLAIMS_MAX))
  let claimed = 0
  for (let slice = 0; slice < slices; slice += 1) {
    // Several versions of a row carry the same place, so FINAL would only cost time.
    const rows = await selectRows<[string, string, string, number]>(
      client,
      `SELECT DISTINCT toString(id_hash), toString(content_hash), log_seq, log_line FROM usage_events
       WHERE log_partition = {partition:UInt16} AND cityHash64(id_hash) % {slices:UInt32} = {slice:UInt32}`,
      { ...params, slices, slice },
    )
    await index.claim(
      rows.map(([idHash, contentHash, seq, line]): Claim => ({ idHash, contentHash, seq: Number(seq), line })),
    )
    claimed += rows.length
  }
  return claimed
}
