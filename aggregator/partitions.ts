// The partitions this process works now: takes up what it is given, gives up what it loses, each in its own time.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { streamState } from '../shared/log/streams.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { Clock, Instant } from '../shared/time.ts'
import type { ClickHouseClient } from '../shared/usage/clickhouse.ts'
import { type DiskIndex, openFirstSeenIndex } from './index/first-seen-index.ts'
import { planResume, rebuildIndex, recogniseRestored, storedPositions } from './index/resume.ts'
import { openReader } from './log/reader.ts'
import { createReferenceCount } from './reference-count.ts'
import type { RoundWork } from './run.ts'

export type PartitionWork = RoundWork & { readonly index: DiskIndex; readonly takenAt: Instant }

export type PartitionsDeps = {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly client: ClickHouseClient
  readonly clock: Clock
  readonly logger: Logger
  readonly indexDirectory: string
  /** Answers questions about a partition for as long as it is worked here. */
  readonly answer: (work: Pick<PartitionWork, 'partition' | 'index'>) => { close(): void }
  /** Called when a message came in, and when a partition was taken up. */
  readonly onMessage: () => void
  readonly onTaken: () => void
}
export type Partitions = {
  /** Takes up what is new in the set and gives up what is no longer in it. Returns at once. */
  hold(partitions: ReadonlySet<number>): void
  /** Those that are read now. */
  working(): readonly PartitionWork[]
  /** Those that are being taken up: their index is opened, caught up or rebuilt. */
  resuming(): readonly number[]
  /** Resolves once every partition held now is worked or given up again. Rejects as `failed` does. */
  settled(): Promise<void>
  /** Rejects when a partition can never be worked as things are, or its index is broken; never resolves. */
  readonly failed: Promise<never>
  /** Gives up everything; resolves when every index is closed. */
  close(): Promise<void>
}

/** The log does not hold what was already processed; going on would count wrongly, so a person must decide. */
class LogRefusedError extends Error {}

const RETRY_FIRST_MS = 200
const RETRY_MAX_MS = 5_000
const SETTLE_POLL_MS = 10

/** Nothing is held at first. */
export function createPartitions(deps: PartitionsDeps): Partitions {
  const working = new Map<number, PartitionWork>()
  const resuming = new Set<number>()
  const held = new Map<number, { readonly lost: AbortController; readonly done: Promise<void> }>()
  const rebuilds = createQueue()
  let fail: (error: unknown) => void = () => undefined
  const failed = new Promise<never>((_, reject) => (fail = reject))
  // The loop of the rounds awaits it; until then a rejection must not count as unhandled.
  failed.catch(() => undefined)

  async function work(partition: number, lost: AbortSignal): Promise<void> {
    const one = lost.aborted ? null : await take(deps, { partition, lost, rebuilds })
    if (one === null) return
    working.set(partition, one)
    resuming.delete(partition)
    deps.onTaken()
    const answers = deps.answer(one)
    if (!lost.aborted) await once(lost, 'abort')
    one.lost = true
    answers.close()
    working.delete(partition)
    await one.reader.close()
    await one.references.idle()
    await one.index.close()
    deps.logger.info({ partition }, 'partition given up')
  }

  function hold(wanted: ReadonlySet<number>): void {
    for (const [partition, { lost }] of held) {
      if (wanted.has(partition)) continue
      resuming.delete(partition)
      lost.abort()
    }
    for (const partition of wanted) {
      const before = held.get(partition)
      if (before && !before.lost.signal.aborted) continue
      const lost = new AbortController()
      resuming.add(partition)
      // One after the other: the index of a partition that comes back is closed first.
      const done = (before?.done ?? Promise.resolve()).then(() => work(partition, lost.signal))
      done.catch(fail)
      held.set(partition, { lost, done })
    }
  }

  return {
    hold,
    failed,
    working: () => [...working.values()],
    resuming: () => [...resuming],
    async settled() {
      while (resuming.size > 0) await Promise.race([failed, sleep(SETTLE_POLL_MS)])
    },
    async close() {
      hold(new Set())
      await Promise.allSettled([...held.values()].map(({ done }) => done))
    },
  }
}

type Taking = {
  readonly partition: number
  readonly lost: AbortSignal
  readonly rebuilds: <T>(work: () => Promise<T>) => Promise<T>
}

/** Takes a partition up, trying again while ClickHouse or the broker is away; null when it was lost before that. */
async function take(deps: PartitionsDeps, taking: Taking): Promise<PartitionWork | null> {
  const { partition, lost } = taking
  for (let delayMs = RETRY_FIRST_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
    try {
      return await takeOnce(deps, taking)
    } catch (error) {
      if (lost.aborted) return null
      if (error instanceof LogRefusedError) throw error
      deps.logger.warn({ partition, err: error, delayMs }, 'the partition could not be taken up; trying again')
      await sleep(delayMs, undefined, { signal: lost }).catch(() => undefined)
      if (lost.aborted) return null
    }
  }
}

async function takeOnce(deps: PartitionsDeps, { partition, lost, rebuilds }: Taking): Promise<PartitionWork> {
  const index = await openFirstSeenIndex(join(deps.indexDirectory, `partition-${partition}`))
  try {
    // The stream after the position: the process that works the partition until now stores on, and a stream that was looked at before
    // would seem to end too early.
    const stored = (await storedPositions(deps.client)).get(partition) ?? null
    const stream = await streamState(deps.jsm, partition)
    const positions = { index: index.position(), stored }
    const plan = planResume(positions.index, stored, await recogniseRestored(deps.jsm, positions, stream))
    if (plan.kind === 'refuse') throw new LogRefusedError(plan.reason)
    if (plan.kind === 'rebuild') {
      const startedAt = performance.now()
      // One at a time: each reads the whole of usage_events.
      const claims = await rebuilds(() =>
        rebuildIndex(deps.client, index, { partition, position: plan.from, stop: lost }),
      )
      const durationMs = Math.round(performance.now() - startedAt)
      deps.logger.info({ partition, claims, durationMs }, 'the first-seen index was rebuilt from usage_events')
    }
    const storedSeq = stored?.seq ?? 0
    const { after } = plan
    deps.logger.info({ partition, after, storedSeq, behind: stream.lastSeq - after }, 'partition taken up')
    return {
      partition,
      index,
      reader: openReader(deps, partition, after),
      streamCreated: stream.created,
      takenAt: deps.clock.now(),
      storedSeq,
      references: createReferenceCount(),
      after,
      position: stored,
      lost: false,
    }
  } catch (error) {
    await index.close()
    throw error
  }
}

/** Runs what it is given one after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const result = last.then(work)
    last = result.catch(() => undefined) // The caller hears of it; the next in the queue does not care.
    return result
  }
}
