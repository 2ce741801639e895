// The loop: gather a round, prepare it while the round before is being stored, store it, again until told to stop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../shared/logger.ts'
import { type PartitionMessages, prepareBatch, type StoreDeps, type StoredRound, storeRound } from './consume.ts'
import type { PartitionReader } from './log/reader.ts'
import { nextRound, type Signal } from './log/rounds.ts'
import type { PartitionBatch } from './outcome.ts'

export type RunDeps = StoreDeps & {
  readonly readers: readonly PartitionReader[]
  readonly signal: Signal
  readonly logger: Logger
  readonly partitions: number
  /** By partition: where it was resumed, and which stream it is. */
  readonly starts: ReadonlyMap<number, { readonly after: number; readonly streamCreated: string }>
  readonly onStored: (round: StoredRound, batches: readonly PartitionBatch[], seconds: number) => void
  readonly onRetry: () => void
}

const RETRY_FIRST_MS = 100
const RETRY_MAX_MS = 5_000

/**
 * Runs until `stop`, then finishes the rounds it took if ClickHouse answers. Rejects when it cannot go on: a message of a
 * newer format, a broken index. While ClickHouse is away it waits, and the log keeps what is accepted.
 */
export async function runRounds(deps: RunDeps, stop: AbortSignal): Promise<void> {
  const after = new Map([...deps.starts].map(([partition, start]) => [partition, start.after]))
  let storing: Promise<boolean> = Promise.resolve(true)
  stop.addEventListener('abort', deps.signal.notify, { once: true })
  for (;;) {
    const round = await nextRound(deps.readers, deps.signal, () => stop.aborted)
    if (round === null) break
    await deps.failpoints('aggregator.after-fetch')
    const reads = [...round].map(([partition, messages]): PartitionMessages => {
      const start = deps.starts.get(partition)
      if (start === undefined) throw new Error(`partition ${partition} was not resumed`)
      const read = { partition, partitions: deps.partitions, messages, streamCreated: start.streamCreated }
      return { ...read, after: after.get(partition) ?? start.after }
    })
    const batches = await Promise.all(reads.map(read => prepareBatch(deps, read)))
    for (const { partition, position } of batches) after.set(partition, position.seq)
    // A round that was given up while stopping must not be followed by another: the position would move past it.
    if (!(await storing)) return
    storing = storeUntilDone(deps, batches, stop)
    // A rejection is seen where `storing` is awaited; without this line it would be unhandled until then.
    storing.catch(() => undefined)
  }
  await storing
}

/** Whether the round was stored; false only when it was given up because of `stop`. */
async function storeUntilDone(deps: RunDeps, batches: readonly PartitionBatch[], stop: AbortSignal): Promise<boolean> {
  const startedAt = performance.now()
  for (let delayMs = RETRY_FIRST_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
    try {
      const stored = await storeRound(deps, batches)
      deps.onStored(stored, batches, (performance.now() - startedAt) / 1000)
      return true
    } catch (error) {
      deps.onRetry()
      deps.logger.warn({ err: error, delayMs }, 'usage could not be stored; trying again')
      // Stopping: what is not stored stays after the position and is read again by the next process.
      if (stop.aborted) return false
      await sleep(delayMs, undefined, { signal: stop }).catch(() => undefined)
      if (stop.aborted) return false
    }
  }
}
