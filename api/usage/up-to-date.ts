// How far usage is complete in ClickHouse, and the barrier a billing run waits at before it finalises a period.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamManager } from '@nats-io/jetstream'
import { logEnds } from '../../shared/log/streams.ts'
import { type Clock, type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'

export type PartitionProgress = {
  readonly partition: number
  /** The last position stored, and when the broker took it; 0 before the first. */
  readonly storedSeq: number
  readonly storedAt: Instant
  /** The last position accepted. */
  readonly endSeq: number
}
export type UsageProgress = {
  /** Everything the gateways accepted before this instant is in ClickHouse. */
  readonly upToDateUntil: Instant
  readonly partitions: readonly PartitionProgress[]
}
export type BarrierOptions = {
  /** Position by partition, from `logEnds`: taken when the question arose. */
  readonly ends: ReadonlyMap<number, number>
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

const POLL_FIRST_MS = 25
const POLL_MAX_MS = 500

type Stored = { readonly seq: number; readonly at: Instant }

async function storedPositions(client: ClickHouseClient): Promise<Map<number, Stored>> {
  const rows = await selectRows<[number, string, string]>(
    client,
    'SELECT log_partition, log_seq, toUnixTimestamp64Milli(log_time) FROM usage_positions FINAL',
  )
  return new Map(rows.map(([partition, seq, at]) => [partition, { seq: Number(seq), at: instantOf(Number(at)) }]))
}

/** Progress now. The ends of the log are read before the positions, so a partition that keeps up counts as complete. */
export async function usageUpToDate(deps: {
  readonly client: ClickHouseClient
  readonly jsm: JetStreamManager
  readonly clock: Clock
  readonly partitions: number
}): Promise<UsageProgress> {
  const now = deps.clock.now()
  const ends = await logEnds(deps.jsm, deps.partitions)
  const stored = await storedPositions(deps.client)
  const partitions = [...ends].map(([partition, endSeq]): PartitionProgress => {
    const at = stored.get(partition)
    return { partition, storedSeq: at?.seq ?? 0, storedAt: at?.at ?? instantOf(0), endSeq }
  })
  const behind = partitions.filter(({ storedSeq, endSeq }) => storedSeq < endSeq)
  const upToDateUntil = instantOf(Math.min(now, ...behind.map(({ storedAt }) => storedAt)))
  return { upToDateUntil, partitions }
}

/**
 * Waits until everything up to these positions is in ClickHouse. True when it is; false when `timeoutMs` passed or the
 * signal was given first. Throws what ClickHouse throws.
 */
export async function waitForUsage(client: ClickHouseClient, options: BarrierOptions): Promise<boolean> {
  const { ends, timeoutMs, signal } = options
  const deadline = performance.now() + timeoutMs
  for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    const stored = await storedPositions(client)
    if ([...ends].every(([partition, end]) => (stored.get(partition)?.seq ?? 0) >= end)) return true
    const leftMs = deadline - performance.now()
    if (leftMs <= 0 || signal?.aborted) return false
    await sleep(Math.min(pollMs, leftMs))
  }
}
