// One running aggregator: takes its share of the partitions, reads the log, stores it, keeps the roll-ups; distinguished from
// main.ts so that tests run it in their own process.
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Failpoints } from '../shared/failpoint.ts'
import { untilBrokerAnswers } from '../shared/log/connect.ts'
import { ensureStreams } from '../shared/log/streams.ts'
import type { Logger } from '../shared/process/logger.ts'
import { untilLeft } from '../shared/process/until-left.ts'
import type { Clock } from '../shared/time.ts'
import type { ClickHouseClient } from '../shared/usage/clickhouse.ts'
import { answerFirstSeen } from './answer-first-seen.ts'
import { claimIndexFolder, type IndexFolder } from './index/folder.ts'
import { keepLeases } from './leases/keep-leases.ts'
import { type LeaseStore, openLeaseStore } from './leases/lease-store.ts'
import { createSignal } from './log/rounds.ts'
import { createMeterLists, type MeterLists } from './meter-lists/meter-lists.ts'
import type { Metrics } from './metrics.ts'
import { createPartitions, type Partitions } from './partitions.ts'
import { createDirtyBuckets } from './rollups/dirty-buckets.ts'
import { runRoller } from './rollups/roller.ts'
import { runRounds } from './run.ts'
import { createUsageSink, type UsageSink } from './sinks/usage-sink.ts'
import { createHealth, type Health } from './status.ts'
import { watchLag } from './watch-lag.ts'

export type AggregatorDeps = {
  readonly nats: NatsConnection
  readonly client: ClickHouseClient
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly failpoints: Failpoints
  readonly partitions: number
  readonly replicas: number
  /** The folder of this aggregator alone; holds one index a partition. */
  readonly indexDirectory: string
  /** Where the leases are kept; the broker unless a test says otherwise. */
  readonly leases?: LeaseStore
  /** Aborted from outside to stop it, also while it starts; `stop()` does the same. */
  readonly stop?: AbortController
}
export type Aggregator = {
  /** Settles when it stops: rejects when it could not go on. */
  readonly done: Promise<void>
  /** The partitions it works now. */
  held(): readonly number[]
  /** Why it is not keeping up, or null: the /health/ready answer. */
  ready(): Promise<string | null>
  /** Gives back its partitions, finishes what it took and closes its index. */
  stop(): Promise<void>
}

/**
 * Starts, and resolves when the partitions of its first share are being read. Throws when a stream does not hold what was
 * already processed, or the index folder is another aggregator's; and the reason of `stop` when it is stopped before it starts.
 */
export async function startAggregator(deps: AggregatorDeps): Promise<Aggregator> {
  const stop = deps.stop ?? new AbortController()
  const jsm = await untilBrokerAnswers(() => jetstreamManager(deps.nats), deps.logger, stop.signal)
  await untilBrokerAnswers(() => ensureStreams(jsm, deps), deps.logger, stop.signal)
  const folder = claimIndexFolder(deps.indexDirectory)
  const signal = createSignal()
  const dirty = createDirtyBuckets()
  const sink = createUsageSink(deps.client)
  const meterLists = createMeterLists({ ...deps, sink, folder: folder.id })
  const partitions = createPartitions({
    js: jetstream(deps.nats),
    jsm,
    client: deps.client,
    clock: deps.clock,
    logger: deps.logger,
    indexDirectory: deps.indexDirectory,
    answer: work => answerFirstSeen({ ...deps, sink }, work),
    onMessage: signal.notify,
    onTaken() {
      signal.notify()
      // What the aggregator before left to recompute is found by a scan.
      dirty.rescan()
    },
  })
  const health = createHealth(deps, partitions)
  const { firstShare, done } = runAll(deps, { jsm, folder, stop, signal, sink, meterLists, dirty, partitions, health })
  try {
    await Promise.race([done, firstShare])
    await Promise.race([done, partitions.settled()])
  } catch (error) {
    stop.abort()
    await done.catch(() => undefined)
    throw error
  }
  return {
    done,
    held: () => partitions.working().map(({ partition }) => partition),
    ready: health.ready,
    async stop() {
      stop.abort()
      await done
    },
  }
}

type Parts = {
  readonly jsm: JetStreamManager
  readonly folder: IndexFolder
  readonly stop: AbortController
  readonly signal: ReturnType<typeof createSignal>
  readonly sink: UsageSink
  readonly meterLists: MeterLists
  readonly dirty: ReturnType<typeof createDirtyBuckets>
  readonly partitions: Partitions
  readonly health: Health
}

function runAll(deps: AggregatorDeps, parts: Parts): { firstShare: Promise<void>; done: Promise<void> } {
  let gotShare: () => void = () => undefined
  const firstShare = new Promise<void>(resolve => (gotShare = resolve))
  const done = (async () => {
    const { stop, partitions, folder } = parts
    const loops = startLoops(deps, parts, gotShare)
    try {
      // Each of them ends by a stop or by a fault that no waiting cures.
      await Promise.race([...loops, partitions.failed])
    } finally {
      stop.abort()
      await Promise.allSettled(loops)
      await partitions.close()
      folder.release()
    }
    await Promise.all(loops)
  })()
  done.catch(() => undefined) // Whoever started it awaits it; until then it must not count as unhandled.
  return { firstShare, done }
}

/**
 * How long a stop waits for roll-ups and lists of meters. Another process makes what is not done then, and a ClickHouse that hangs must not
 * hold up the end.
 */
const UPKEEP_GRACE_MS = 5_000

function startLoops(deps: AggregatorDeps, parts: Parts, gotShare: () => void): Promise<void>[] {
  const { client, clock, logger, metrics, failpoints } = deps
  const { jsm, folder, stop, signal, sink, meterLists, dirty, partitions, health } = parts
  const opened = deps.leases ? Promise.resolve(deps.leases) : openLeaseStore(deps.nats, jsm, deps.replicas)
  const leases = opened.then(store =>
    keepLeases(
      {
        store,
        logger,
        id: folder.id,
        partitions: deps.partitions,
        indexed: folder.indexed,
        monotonic: () => performance.now(),
        onHeld(held) {
          partitions.hold(held)
          gotShare()
        },
      },
      stop.signal,
    ),
  )
  const rounds = runRounds(
    {
      working: partitions.working,
      sink,
      meterLists,
      failpoints,
      signal,
      logger,
      partitions: deps.partitions,
      onStored(round, seconds) {
        health.stored()
        dirty.touch(
          round.marks.map(({ bucket }) => bucket),
          clock.now(),
        )
        metrics.stored(round.counts, seconds)
        if (round.counts.dead > 0) logger.error({ dead: round.counts.dead }, 'records were stored as dead letters')
        logger.debug({ ...round.counts, durationMs: Math.round(seconds * 1000) }, 'round stored')
      },
      onRetry(failingSeconds) {
        health.failing(failingSeconds)
        metrics.retried()
      },
    },
    stop.signal,
  )
  const backlog = () => partitions.working().some(({ reader }) => reader.full())
  const roller = runRoller(
    { client, dirty, clock, logger, onRolled: metrics.rolled, onRefused: metrics.rollRefused, backlog },
    stop.signal,
  )
  const watch = watchLag({ jsm, clock, logger, metrics, partitions, count: deps.partitions, dirty }, stop.signal)
  const upkeep = [roller, meterLists.run(stop.signal)].map(work => untilLeft(work, stop.signal, UPKEEP_GRACE_MS))
  return [leases, rounds, ...upkeep, watch]
}
