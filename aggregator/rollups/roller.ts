// The loop that recomputes quiet buckets while the aggregator runs.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../shared/logger.ts'
import type { Clock } from '../../shared/time.ts'
import type { ClickHouseClient } from '../../shared/usage/clickhouse.ts'
import type { Bucket } from '../outcome.ts'
import type { DirtyBuckets } from './dirty-buckets.ts'
import { findStaleBuckets, rollBuckets } from './roll-buckets.ts'

export type RollerDeps = {
  readonly client: ClickHouseClient
  readonly dirty: DirtyBuckets
  readonly clock: Clock
  readonly logger: Logger
  readonly onRolled: (buckets: number) => void
  /** Whether accepted events wait to be stored. */
  readonly backlog: () => boolean
}

/** A bucket touched more recently waits: the next touch would undo the work. */
const QUIET_MS = 5_000
const TURN_MS = 1_000
const BUCKETS_PER_TURN = 256
const SCAN_MAX = 20_000
const RETRY_MS = 5_000
/** Turns given up to a backlog before one is taken all the same, so that a lasting backlog cannot starve the roll-ups. */
const YIELDS_MAX = 30

/** Recomputes quiet buckets until `stop`. Its failures cost readers time, so they are logged and tried again. */
export async function runRoller(deps: RollerDeps, stop: AbortSignal): Promise<void> {
  // What an earlier process left behind is found by a scan, and so is what did not fit in memory.
  let scanNeeded = true
  let yields = 0
  while (!stop.aborted) {
    if (deps.backlog() && yields < YIELDS_MAX) {
      yields += 1
      await pause(TURN_MS, stop)
      continue
    }
    yields = 0
    const now = deps.clock.now()
    let quiet: Bucket[] = []
    try {
      if (scanNeeded) {
        const stale = await findStaleBuckets(deps.client, SCAN_MAX)
        deps.dirty.add(stale, now)
        scanNeeded = false
      }
      quiet = deps.dirty.takeQuiet(now - QUIET_MS, BUCKETS_PER_TURN)
      if (quiet.length > 0) deps.onRolled(await rollBuckets(deps.client, quiet))
      if (deps.dirty.count() === 0 && deps.dirty.takeOverflow()) scanNeeded = true
    } catch (error) {
      deps.dirty.add(quiet, now)
      deps.logger.warn({ err: error, buckets: quiet.length }, 'roll-ups could not be recomputed; trying again')
      await pause(RETRY_MS, stop)
    }
    // Also after a full turn: recomputing must never compete with storing what was just accepted.
    await pause(TURN_MS, stop)
  }
}

const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: stop }).catch(() => undefined) // Stopping ends the pause early.
