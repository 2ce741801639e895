// How far usage is complete in ClickHouse, and the barrier a billing run waits at before it finalizes a period.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamManager } from '@nats-io/jetstream'
import { firstMessageAt, logEnds, messageAfterAt } from '../../shared/log/streams.ts'
import { HungError } from '../../shared/process/unless-hung.ts'
import { realTime } from '../../shared/test-time.ts'
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

/** So close behind, the last message stored says enough: a flood asks the broker nothing more. */
const NEAR_MS = 1_000
/** A ClickHouse that is started again is back by then; one that is away longer is the caller's to know. */
const FAILING_MS = 3_000
const POLL_FIRST_MS = 25
const POLL_MAX_MS = 500

type Stored = { readonly seq: number; readonly at: Instant }

/** The last position stored of each partition; every effect of every message up to it can be read. */
export async function storedPositions(client: ClickHouseClient): Promise<Map<number, Stored>> {
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
  // Events are accepted in the time of the day, also those of a customer who lives by a test clock.
  const now = realTime(deps.clock.now())
  const ends = await logEnds(deps.jsm, deps.partitions)
  const stored = await storedPositions(deps.client)
  const partitions = [...ends].map(([partition, endSeq]): PartitionProgress => {
    const at = stored.get(partition)
    return { partition, storedSeq: at?.seq ?? 0, storedAt: at?.at ?? instantOf(0), endSeq }
  })
  const behind = partitions.filter(({ storedSeq, endSeq }) => storedSeq < endSeq)
  // Everything before the first message that is not stored is complete, however long before it the last one came.
  const until = await Promise.all(
    behind.map(async ({ partition, storedSeq, storedAt }) => {
      if (storedSeq === 0) return await firstMessageAt(deps.jsm, partition)
      if (now - storedAt < NEAR_MS) return storedAt
      return (await messageAfterAt(deps.jsm, { partition, seq: storedSeq })) ?? storedAt
    }),
  )
  return { upToDateUntil: instantOf(Math.min(now, ...until)), partitions }
}

/**
 * Waits until everything up to these positions is in ClickHouse, whichever aggregators store it. True when it is; false when
 * `timeoutMs` passed or the signal was given first. A ClickHouse that fails is asked again for a few seconds; what it failed with
 * last is thrown then, and HungError when it answered nothing in all that time.
 */
export async function waitForUsage(client: ClickHouseClient, options: BarrierOptions): Promise<boolean> {
  const { ends, timeoutMs } = options
  const over = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(options.signal ? [options.signal] : [])])
  // Kept apart from the questions, so that one that never answers cannot hold the caller.
  const timeOver = new Promise<null>(resolve => over.addEventListener('abort', () => resolve(null), { once: true }))
  let answeredAt = performance.now()
  let hasAnswered = false
  for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(pollMs * 2, POLL_MAX_MS)) {
    const answer = await Promise.race([isStored(client, ends), timeOver])
    if (answer === 'STORED') return true
    if (answer !== null) hasAnswered = true
    if (answer === 'BEHIND') answeredAt = performance.now()
    if (answer instanceof Error && performance.now() - answeredAt > FAILING_MS) throw answer
    if (answer === null || over.aborted) {
      if (answer instanceof Error) throw answer
      if (!hasAnswered && !options.signal?.aborted) throw new HungError('ClickHouse does not answer')
      return false
    }
    await sleep(pollMs, undefined, { signal: over }).catch(() => undefined)
    if (over.aborted && answer instanceof Error) throw answer
  }
}

/** The failure is a value here: the caller decides whether to ask again. */
async function isStored(client: ClickHouseClient, ends: BarrierOptions['ends']): Promise<'STORED' | 'BEHIND' | Error> {
  try {
    const stored = await storedPositions(client)
    return [...ends].every(([partition, end]) => (stored.get(partition)?.seq ?? 0) >= end) ? 'STORED' : 'BEHIND'
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
