// The loop: gather a round, prepare it while the round before is being stored, store it, again until it is stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../shared/process/logger.ts'
import { insertRows, prepareBatch, type Rows, rowsOf, type StoreDeps, type StoredRound, storeRound } from './consume.ts'
import type { FirstSeenIndex } from './index/first-seen-index.ts'
import type { PartitionReader } from './log/reader.ts'
import { createPace, nextRound, type Signal } from './log/rounds.ts'
import type { LogMessage, PartitionBatch, Position } from './outcome.ts'
import type { ReferenceCount } from './reference-count.ts'
import { persistent, RetriesExhaustedError } from './sinks/persistent.ts'

/** A partition as the rounds see it. */
export type RoundWork = {
  readonly partition: number
  readonly index: FirstSeenIndex
  readonly reader: PartitionReader
  readonly streamCreated: string
  /** What was in ClickHouse when it was taken up: messages up to here are claimed and not stored again. */
  readonly storedSeq: number
  /** The rounds that hold batches of it; its index stays open for them. */
  readonly references: ReferenceCount
  /** The position after the last message prepared. */
  after: number
  /** What is stored, as far as this process knows; null before its first round. */
  position: Position | null
  /** Another aggregator has it now: nothing more is read or stored here. */
  lost: boolean
}
export type RunDeps = Omit<StoreDeps, 'indexes'> & {
  /** The partitions of this process; they come and go. */
  readonly working: () => readonly RoundWork[]
  readonly signal: Signal
  readonly logger: Logger
  readonly partitions: number
  readonly onStored: (round: StoredRound, seconds: number) => void
  readonly onRetry: (failingSeconds: number) => void
}
type Prepared = { readonly work: RoundWork; readonly batch: PartitionBatch }

/**
 * Runs until `stop`, then finishes the rounds it took if ClickHouse answers. Rejects when it cannot go on: a message of a
 * newer format, a broken index. While ClickHouse is away it waits, and the log keeps what is accepted: what is held here
 * is one round being stored, one whose rows go ahead of it, and what each reader may read ahead.
 */
export async function runRounds(deps: RunDeps, stop: AbortSignal): Promise<void> {
  let storing: Promise<boolean> = Promise.resolve(true)
  const pace = createPace()
  stop.addEventListener('abort', deps.signal.notify, { once: true })
  for (;;) {
    const gathered = await nextRound(deps.working, deps.signal, { stopping: () => stop.aborted, pace })
    if (gathered === null) break
    const { release } = useOf(gathered.keys())
    const stored = pace.taken()
    try {
      await deps.failpoints('aggregator.after-fetch')
      const prepared = await Promise.all([...gathered].map(([work, messages]) => prepare(deps, work, messages)))
      const round = insertAhead(deps, prepared)
      // A round that was given up while stopping must not be followed by another: the position would move past it.
      if (!(await storing)) return release()
      storing = storeUntilDone(deps, round, stop).finally(() => {
        stored()
        release()
      })
      // A rejection is seen where `storing` is awaited; without this line it would be unhandled until then.
      storing.catch(() => undefined)
    } catch (error) {
      release()
      throw error
    }
  }
  await storing
}

/** Keeps the indexes of these open until it is released. */
function useOf(round: Iterable<RoundWork>): { release(): void } {
  const works = [...round]
  for (const { references } of works) references.acquire()
  return {
    release() {
      for (const { references } of works.splice(0)) references.release()
    },
  }
}

async function prepare(deps: RunDeps, work: RoundWork, messages: readonly LogMessage[]): Promise<Prepared> {
  const { partition, streamCreated, after } = work
  const indexes = new Map([[partition, work.index]])
  const read = { partition, partitions: deps.partitions, messages, streamCreated, after }
  const batch = await prepareBatch({ indexes, failpoints: deps.failpoints }, read)
  work.after = batch.position.seq
  return { work, batch }
}

/** A round on its way: what only had to be claimed, what is to be stored, its rows, and whether they were inserted at once. */
type Round = {
  readonly known: readonly Prepared[]
  readonly fresh: readonly Prepared[]
  readonly rows: Rows
  readonly inserted: Promise<boolean>
}

/** Inserts the rows while the round before is still being stored, so that ClickHouse need not wait for us. Tried once. */
function insertAhead(deps: RunDeps, prepared: readonly Prepared[]): Round {
  // What was in ClickHouse before this process took the partition up is only claimed: that alone was missing here.
  const known = prepared.filter(({ work, batch }) => batch.position.seq <= work.storedSeq)
  const fresh = prepared.filter(each => !known.includes(each))
  const rows = rowsOf(fresh.map(({ batch }) => batch))
  const inserted = insertRows(deps, rows).then(
    () => true,
    () => false, // when its turn comes it is tried until it works
  )
  return { known, fresh, rows, inserted }
}

/** Whether the round was stored or is no longer ours to store; false only when it was given up because of `stop`. */
async function storeUntilDone(deps: RunDeps, round: Round, stop: AbortSignal): Promise<boolean> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  for (const { work, batch } of round.known) await work.index.commitPosition(batch.position)
  for (;;) {
    // Whoever works a partition now stores what was read of it here, so its rows are not waited for.
    const due = round.fresh.filter(({ work }) => !work.lost)
    if (due.length === 0) return true
    const sink = persistent(deps.sink, {
      givenUp: () => stop.aborted || due.some(({ work }) => work.lost),
      async pause(error, delayMs) {
        deps.onRetry(seconds())
        deps.logger.warn({ err: error, delayMs }, 'usage could not be stored; trying again')
        await sleep(delayMs, undefined, { signal: stop }).catch(() => undefined)
      },
    })
    try {
      deps.onStored(await store({ ...deps, sink }, due, round), seconds())
      return true
    } catch (error) {
      if (!(error instanceof RetriesExhaustedError)) throw error
      // Stopping: what is not stored stays after the position and is read again by the next process.
      if (stop.aborted) return false
    }
  }
}

async function store(deps: RunDeps, due: readonly Prepared[], { fresh, rows, inserted }: Round): Promise<StoredRound> {
  const indexes = new Map(due.map(({ work }) => [work.partition, work.index]))
  const batches = due.map(({ batch }) => batch)
  const dueRows = due.length === fresh.length ? rows : rowsOf(batches)
  if (!(await inserted)) await insertRows(deps, dueRows)
  const stored = await storeRound({ indexes, sink: deps.sink, failpoints: deps.failpoints }, batches, dueRows)
  for (const { work, batch } of due) work.position = batch.position
  return stored
}
