// Tells Prometheus how far each partition of this aggregator is behind, and notices a stream that was replaced.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamManager } from '@nats-io/jetstream'
import { streamState } from '../shared/log/streams.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { Clock } from '../shared/time.ts'
import type { Metrics } from './metrics.ts'
import type { Partitions, PartitionWork } from './partitions.ts'

export type WatchDeps = {
  readonly jsm: JetStreamManager
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly partitions: Partitions
  /** Partitions there are. */
  readonly count: number
  readonly dirty: { count(): number }
}

const TURN_MS = 5_000

/** Reports until `stop`. Rejects when a stream is replaced while it is being read: the rounds would wait for ever. */
export async function watchLag(deps: WatchDeps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const working = deps.partitions.working()
    for (const work of working) await report(deps, work)
    // What another aggregator has is reported there; two answers for one partition would contradict each other.
    const held = new Set(working.map(({ partition }) => partition))
    for (let partition = 0; partition < deps.count; partition += 1) {
      if (!held.has(partition)) deps.metrics.givenUp(partition)
    }
    deps.metrics.dirtyBuckets(deps.dirty.count())
    await sleep(TURN_MS, undefined, { signal: stop }).catch(() => undefined)
  }
}

async function report(deps: WatchDeps, work: PartitionWork): Promise<void> {
  const { partition, streamCreated, position, index } = work
  const stream = await streamState(deps.jsm, partition).catch(error => {
    deps.logger.warn({ partition, err: error }, 'the state of the usage log could not be read')
    return null
  })
  if (stream === null || work.lost) return
  if (stream.created !== streamCreated) {
    throw new Error(`stream USAGE_${partition} was replaced while it was being read`)
  }
  const messages = Math.max(0, stream.lastSeq - (position?.seq ?? 0))
  // Before anything of the partition was stored, all that is known is how long it has been worked here.
  const sinceMs = position?.timeMs ?? work.takenAt
  const seconds = messages === 0 ? 0 : Math.max(0, deps.clock.now() - sinceMs) / 1000
  deps.metrics.held(partition, { messages, seconds, entries: index.entries(), ...index.bytes() })
}
