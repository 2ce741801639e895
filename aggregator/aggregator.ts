// One running aggregator: resumes every partition, reads the log, stores it, keeps the roll-ups; told apart from main.ts
// so that tests run it in their own process.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Failpoints } from '../shared/failpoint.ts'
import { ensureStreams, streamState } from '../shared/log/streams.ts'
import type { Logger } from '../shared/logger.ts'
import type { Clock } from '../shared/time.ts'
import type { ClickHouseClient } from '../shared/usage/clickhouse.ts'
import { type FirstSeenIndex, openFirstSeenIndex } from './index/first-seen-index.ts'
import { planResume, rebuildIndex, storedPositions } from './index/resume.ts'
import { openReader } from './log/reader.ts'
import { createSignal } from './log/rounds.ts'
import type { Metrics } from './metrics.ts'
import type { PartitionBatch, Position } from './outcome.ts'
import { createDirtyBuckets } from './rollups/dirty-buckets.ts'
import { runRoller } from './rollups/roller.ts'
import { runRounds } from './run.ts'
import { createUsageSink } from './sinks/usage-sink.ts'

export type AggregatorDeps = {
  readonly nats: NatsConnection
  readonly client: ClickHouseClient
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly failpoints: Failpoints
  readonly partitions: number
  readonly replicas: number
  /** Holds one directory a partition. */
  readonly indexDirectory: string
}
export type Aggregator = {
  /** Settles when it stops: rejects when it could not go on. */
  readonly done: Promise<void>
  /** Why it is not keeping up, or null: the /health/ready answer. */
  ready(): Promise<string | null>
  /** Finishes what it took and closes its index. */
  stop(): Promise<void>
}
type Start = { readonly after: number; readonly streamCreated: string }

const LAG_TURN_MS = 5_000

/** Resumes every partition and starts. Throws when a stream does not hold what was already processed. */
export async function startAggregator(deps: AggregatorDeps): Promise<Aggregator> {
  const jsm = await jetstreamManager(deps.nats)
  await ensureStreams(jsm, deps)
  const stop = new AbortController()
  const indexes = new Map<number, FirstSeenIndex>()
  const closeIndexes = () => Promise.all([...indexes.values()].map(index => index.close()))
  try {
    const starts = await resumeAll(deps, jsm, indexes)
    const positions = new Map<number, Position>()
    const running = runAll(deps, { jsm, indexes, starts, positions, stop })
    const done = running.finally(closeIndexes)
    return {
      done,
      ready: () => readiness(deps),
      async stop() {
        stop.abort()
        await done
      },
    }
  } catch (error) {
    await closeIndexes()
    throw error
  }
}

async function readiness({ nats, client }: AggregatorDeps): Promise<string | null> {
  if (nats.isClosed()) return 'the connection to NATS is closed'
  const ping = await client.ping()
  return ping.success ? null : `ClickHouse: ${ping.error.message}`
}

async function resumeAll(
  deps: AggregatorDeps,
  jsm: JetStreamManager,
  indexes: Map<number, FirstSeenIndex>,
): Promise<Map<number, Start>> {
  const stored = await storedPositions(deps.client)
  const starts = new Map<number, Start>()
  for (let partition = 0; partition < deps.partitions; partition += 1) {
    const index = openFirstSeenIndex(join(deps.indexDirectory, `partition-${partition}`))
    indexes.set(partition, index)
    const stream = await streamState(jsm, partition)
    const plan = planResume(index.position(), stored.get(partition) ?? null, stream)
    if (plan.kind === 'refuse') throw new Error(plan.reason)
    if (plan.kind === 'rebuild') {
      const claims = await rebuildIndex(deps.client, index, partition)
      deps.logger.info({ partition, claims }, 'the first-seen index was rebuilt from usage_events')
    }
    starts.set(partition, { after: plan.after, streamCreated: stream.created })
  }
  return starts
}

type Running = {
  jsm: JetStreamManager
  indexes: Map<number, FirstSeenIndex>
  starts: Map<number, Start>
  positions: Map<number, Position>
  stop: AbortController
}

async function runAll(deps: AggregatorDeps, { jsm, indexes, starts, positions, stop }: Running): Promise<void> {
  const { client, clock, logger, metrics, failpoints, partitions } = deps
  const js = jetstream(deps.nats)
  const signal = createSignal()
  const dirty = createDirtyBuckets()
  const readers = [...starts].map(([partition, { after }]) =>
    openReader({ js, logger, onMessage: signal.notify }, partition, after),
  )
  const rounds = runRounds(
    {
      indexes,
      sink: createUsageSink(client),
      failpoints,
      readers,
      signal,
      logger,
      partitions,
      starts,
      onStored(round, batches: readonly PartitionBatch[], seconds) {
        for (const { partition, position } of batches) positions.set(partition, position)
        dirty.touch(round.marks, clock.now())
        metrics.stored(round.counts, seconds)
        if (round.counts.dead > 0) logger.error({ dead: round.counts.dead }, 'records were stored as dead letters')
        logger.debug({ ...round.counts, durationMs: Math.round(seconds * 1000) }, 'round stored')
      },
      onRetry: metrics.retried,
    },
    stop.signal,
  )
  const backlog = () => readers.some(reader => reader.full())
  const roller = runRoller({ client, dirty, clock, logger, onRolled: metrics.rolled, backlog }, stop.signal)
  const watch = watchLag({ jsm, clock, logger, metrics, starts, positions, indexes, dirty }, stop.signal)
  try {
    // The watch rejects when a stream is replaced under a running aggregator; the rounds would wait for ever.
    await Promise.race([rounds, watch])
  } finally {
    stop.abort()
    await Promise.allSettled([rounds, roller, watch, ...readers.map(reader => reader.close())])
  }
  await rounds
}

type WatchDeps = Pick<AggregatorDeps, 'clock' | 'logger' | 'metrics'> &
  Pick<Running, 'jsm' | 'starts' | 'positions' | 'indexes'> & { readonly dirty: { count(): number } }

async function watchLag(deps: WatchDeps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    for (const [partition, start] of deps.starts) await reportLag(deps, partition, start)
    deps.metrics.dirtyBuckets(deps.dirty.count())
    await sleep(LAG_TURN_MS, undefined, { signal: stop }).catch(() => undefined)
  }
}

async function reportLag(deps: WatchDeps, partition: number, start: Start): Promise<void> {
  const stream = await streamState(deps.jsm, partition).catch(error => {
    deps.logger.warn({ partition, err: error }, 'the state of the usage log could not be read')
    return null
  })
  if (stream === null) return
  if (stream.created !== start.streamCreated) {
    throw new Error(`stream USAGE_${partition} was replaced while it was being read`)
  }
  const position = deps.positions.get(partition)
  const messages = Math.max(0, stream.lastSeq - (position?.seq ?? start.after))
  const seconds = messages === 0 || position === undefined ? 0 : (deps.clock.now() - position.timeMs) / 1000
  deps.metrics.lag(partition, { messages, seconds })
  const index = deps.indexes.get(partition)
  if (index) deps.metrics.indexEntries(partition, index.entries())
}
