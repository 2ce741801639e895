// Fills usage_records_by_meter, from which lists of a meter are read: every few seconds it copies what was stored since, for many inserts
// at once. Lists read the rest from usage_records_by_time, so they are right however far this is.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../shared/process/logger.ts'
import type { Clock } from '../../shared/time.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import { ALL_COPIED } from '../../shared/usage/meter-records.ts'
import { createPublisher, type ProgressSink } from './progress.ts'
import { type Arrivals, createReceived } from './received.ts'
import { copyRecords, type Progress, readProgress } from './statements.ts'

export type MeterListDeps = {
  readonly client: ClickHouseClient
  readonly sink: ProgressSink
  readonly clock: Clock
  readonly logger: Logger
  /** The name of the folder, which no other process has meanwhile. */
  readonly folder: string
  readonly turnMs?: number
}

export type MeterLists = {
  /**
   * Must resolve before these records are stored. What it gives is to be called when they are stored, or may be. Throws what the sink
   * throws.
   */
  storing(sink: ProgressSink, arrivals: Arrivals): Promise<() => void>
  /** Copies until `stop`. Its failures cost readers time, so they are logged and tried again. */
  run(stop: AbortSignal): Promise<void>
}

const TURN_MS = 10_000
/** An owner that has said nothing for so long has stopped, or says it again before it stores: others copy what it left. */
const GONE_MS = 15 * 60_000
const ADOPT_EVERY_MS = 5 * 60_000

/** Copies nothing before `run`. */
export function createMeterLists({ client, sink, clock, logger, folder, turnMs = TURN_MS }: MeterListDeps): MeterLists {
  // A process of its own: what the one before it said holds until it is copied.
  const owner = `${folder}/${randomUUID()}`
  const received = createReceived()
  const publisher = createPublisher(owner, clock, received)
  let adoptedAt: number | null = null
  let adopted: readonly Progress[] = []

  const isGone = (each: Progress): boolean =>
    each.owner !== owner &&
    each.completeBefore < ALL_COPIED &&
    (each.owner.startsWith(`${folder}/`) || each.publishedAt <= clock.now() - GONE_MS)

  /** Takes over what others left to copy that have stopped. */
  async function adopt(): Promise<void> {
    if (adoptedAt !== null && Math.abs(clock.now() - adoptedAt) < ADOPT_EVERY_MS) return
    const gone = (await readProgress(client)).filter(isGone)
    for (const { completeBefore } of gone) received.missingFrom(Math.floor(completeBefore / 1000))
    adopted = [...adopted, ...gone]
    adoptedAt = clock.now()
  }

  /** Whether more waits. */
  async function turn(): Promise<boolean> {
    await adopt()
    const stretches = received.take(Math.floor(clock.now() / 1000))
    if (stretches.length === 0) {
      await publisher.publishFewer(sink)
      return false
    }
    try {
      await copyRecords(client, stretches)
    } catch (error) {
      received.failed()
      throw error
    }
    const isWhole = received.copied()
    await publisher.publish(sink)
    if (!isWhole) return true
    const left = adopted
    if (left.length > 0)
      await sink.insertProgress(left.map(each => ({ ...each, completeBefore: ALL_COPIED, version: each.version + 1 })))
    adopted = []
    return false
  }

  return {
    async storing(through, arrivals) {
      const stored = received.storing(arrivals)
      try {
        await publisher.announce(through, arrivals)
      } catch (error) {
        stored()
        throw error
      }
      return stored
    },
    async run(stop) {
      while (!stop.aborted) {
        const isMore = await turn().catch(error => {
          logger.warn({ err: error }, 'lists of meters could not be filled; trying again')
          return false
        })
        // Stopping ends the pause early.
        if (!isMore) await sleep(turnMs, undefined, { signal: stop }).catch(() => undefined)
      }
    },
  }
}
