// The loop that recomputes quiet buckets while the aggregator runs.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../shared/process/logger.ts'
import type { Clock } from '../../shared/time.ts'
import { type ClickHouseClient, isStatementFault } from '../../shared/usage/clickhouse.ts'
import { type Bucket, bucketKey } from '../outcome.ts'
import { createDirtyBuckets, type DirtyBuckets } from './dirty-buckets.ts'
import { type ApartRoller, createApartRoller } from './roll-apart.ts'
import { findStaleBuckets, rollBuckets } from './roll-buckets.ts'
import { DAYS_PER_STATEMENT, dayOf, findStaleDays, rollDays } from './roll-days.ts'
import { BUCKETS_PER_STATEMENT, groupsOf } from './rollup-sql.ts'

export type RollerDeps = {
  readonly client: ClickHouseClient
  readonly dirty: DirtyBuckets
  readonly clock: Clock
  readonly logger: Logger
  readonly onRolled: (buckets: number) => void
  /** Buckets that ClickHouse refused to recompute, each in a statement of its own. */
  readonly onRefused: (buckets: number) => void
  /** Whether accepted events wait to be stored. */
  readonly backlog: () => boolean
  /** The most buckets that one scan gives. */
  readonly scanMax?: number
}

/** A bucket touched more recently waits: the next touch would undo the work. */
const QUIET_MS = 5_000
const HOUR_MS = 3_600_000
/** Of an hour that runs no reader looks for a roll-up, and a customer in use would undo it within seconds. */
const OPEN_QUIET_MS = 5 * 60_000
/** A day waits until its hours have settled: a customer in use changes one of them every few seconds. */
const DAY_QUIET_MS = 60_000
/**
 * A bucket of many rows is recomputed at most this seldom, in ms a row: a hundred times what it takes, so a hot customer's
 * buckets, whatever trickles into them, take a hundredth of a core each.
 */
const COOLDOWN_MS_PER_ROW = 0.2
const COOLDOWN_MAX_MS = 15 * 60_000
const TURN_MS = 1_000
/** Buckets of one turn. */
export const BUCKETS_PER_TURN = 1_024
const SCAN_MAX = 20_000
const RETRY_MS = 5_000
/** A bucket that was refused by itself is tried again this seldom. */
const REFUSED_REST_MS = 5 * 60_000
/** Turns given up to a backlog before one is taken all the same, so that a lasting backlog cannot starve the roll-ups. */
const YIELDS_MAX = 30

/** Recomputes quiet buckets until `stop`. Its failures cost readers time, so they are logged and tried again. */
export async function runRoller(deps: RollerDeps, stop: AbortSignal): Promise<void> {
  const hours: Grain = {
    dirty: deps.dirty,
    quietMs: QUIET_MS,
    openQuietMs: OPEN_QUIET_MS,
    scan: findStaleBuckets,
    most: BUCKETS_PER_STATEMENT,
    roller: createApartRoller(group => rollHours(deps, days.dirty, group), isStatementFault),
    // What an earlier process left behind is found by a scan, and so is what did not fit in memory.
    scanNeeded: true,
  }
  const days: Grain = {
    dirty: createDirtyBuckets(),
    quietMs: DAY_QUIET_MS,
    openQuietMs: DAY_QUIET_MS,
    scan: findStaleDays,
    most: DAYS_PER_STATEMENT,
    roller: createApartRoller(async group => void (await rollDays(deps.client, group)), isStatementFault),
    scanNeeded: true,
  }
  let yields = 0
  while (!stop.aborted) {
    if (deps.backlog() && yields < YIELDS_MAX) {
      yields += 1
      await pause(TURN_MS, stop)
      continue
    }
    yields = 0
    for (const grain of [hours, days]) if (!(await turn(deps, grain, stop))) await pause(RETRY_MS, stop)
    // Also after a full turn: recomputing must never compete with storing what was just accepted.
    await pause(TURN_MS, stop)
  }
}

type Grain = {
  readonly dirty: DirtyBuckets
  readonly quietMs: number
  /** The same, of what starts less than an hour ago. */
  readonly openQuietMs: number
  readonly scan: (client: ClickHouseClient, limit: number) => Promise<Bucket[]>
  /** Buckets of one statement. */
  readonly most: number
  readonly roller: ApartRoller
  scanNeeded: boolean
  /** The keys of what the last scan gave, where it may have left some out. */
  scanned?: ReadonlySet<string>
}

/** Recomputes what is quiet; false when some of it could not be. */
async function turn(deps: RollerDeps, grain: Grain, stop: AbortSignal): Promise<boolean> {
  const { client, clock, logger } = deps
  const { dirty, roller } = grain
  const now = clock.now()
  try {
    if (grain.scanNeeded) {
      await scan(grain, client, { max: deps.scanMax ?? SCAN_MAX, now })
      grain.scanNeeded = false
    }
  } catch (error) {
    logger.warn({ err: error }, 'what has to be rolled up could not be read; trying again')
    return false
  }
  const open = { fromMs: now - HOUR_MS, quietMs: grain.openQuietMs }
  const quiet = roller.isFull() ? [] : dirty.takeQuiet(now, grain.quietMs, BUCKETS_PER_TURN, open)
  const { refused, errors } = await roller.roll(groupsOf(quiet, grain.most), stop)
  const [error] = errors
  if (error !== undefined)
    logger.warn({ err: error, failed: errors.length }, 'roll-ups could not be recomputed; trying again')
  dirty.add(refused, now)
  for (const bucket of refused) {
    dirty.rest(bucket, now + REFUSED_REST_MS)
    const { platformId, environment, meterReference, hour } = bucket
    logger.warn(
      { platformId, environment, meterReference, hour },
      'the roll-up of a bucket was refused; it is read from raw rows',
    )
  }
  if (refused.length > 0) deps.onRefused(refused.length)
  if (dirty.count() === 0 && dirty.takeOverflow()) grain.scanNeeded = true
  return errors.length === 0
}

/** Finds what has to be recomputed. What it leaves out is found by another scan, once all that it gave is done. */
async function scan(
  grain: Grain,
  client: ClickHouseClient,
  { max, now }: { readonly max: number; readonly now: number },
): Promise<void> {
  const { dirty, scanned } = grain
  const found = await grain.scan(client, max)
  dirty.add(found, now)
  delete grain.scanned
  if (found.length < max) return
  grain.scanned = new Set(found.map(bucketKey))
  // Where a scan gives much the same again, it cannot be rolled up: scans would go on for ever.
  const again = found.filter(bucket => scanned?.has(bucketKey(bucket)))
  if (again.length <= found.length / 2) dirty.rescan()
}

async function rollHours(deps: RollerDeps, days: DirtyBuckets, buckets: readonly Bucket[]): Promise<void> {
  const rolled = await rollBuckets(deps.client, buckets)
  const now = deps.clock.now()
  for (const { bucket, rows } of rolled) {
    const restMs = Math.min(rows * COOLDOWN_MS_PER_ROW, COOLDOWN_MAX_MS)
    if (restMs > QUIET_MS) deps.dirty.rest(bucket, now + restMs)
  }
  days.touch(
    rolled.map(({ bucket }) => dayOf(bucket)),
    now,
  )
  deps.onRolled(rolled.length)
}

const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: stop }).catch(() => undefined) // Stopping ends the pause early.
