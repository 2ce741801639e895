// Keeps a set of children running: starts them in order, restarts one that dies, stops what was started last first.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, type Exit, logTail, type Progress, StartFailure } from '../services/child.ts'

export type Unit = {
  readonly name: string
  /** Whether the others that are started with it serve it: it is stopped before they are. */
  readonly isFront?: boolean
  /** Resolves once the unit does its work; rejects, with nothing left running, when it cannot. */
  start(signal: AbortSignal): Promise<Child>
  /** Whether it runs and can no longer do its work, so that only a new start helps. */
  hasFailed?(): Promise<boolean>
}

export type Supervisor = {
  /**
   * Starts these together and waits until all are ready. When one fails, those that are not ready yet are stopped, since they may wait
   * for it; the others are stopped by `stop()`.
   */
  start(units: readonly Unit[]): Promise<void>
  /**
   * Ends everything, what was started last first. Units that were started together end together, those in front before the others.
   * Safe to call at any time, also while units start.
   */
  stop(): Promise<void>
  /** Settles, with the reason, when a unit died too often to go on. */
  readonly gaveUp: Promise<string>
}

export type RestartPolicy = {
  readonly firstDelayMs: number
  readonly delayMsMax: number
  readonly deathsMax: number
  readonly windowMs: number
}

const POLICY: RestartPolicy = { firstDelayMs: 500, delayMsMax: 30_000, deathsMax: 5, windowMs: 300_000 }
const ROOM_POLL_MS = 1_000
const FAILED_POLL_MS = 1_000
/** It may fail while it starts or stops by itself. */
const FAILED_POLLS = 3

type Running = { readonly unit: Unit; child: Child | null; deaths: number[] }

/** A process that was killed is not sick, however often it happens. */
const wasKilled = (exit: Exit | null): boolean => exit?.signal === 'SIGKILL'

/** `hasRoom`: whether the disk takes more. While it does not, what died is waited with, and its deaths are not counted. */
export function createSupervisor(
  log: Progress,
  policy: RestartPolicy = POLICY,
  hasRoom: () => boolean = () => true,
): Supervisor {
  /** What was started together, in order. */
  const groups: Running[][] = []
  const stopping = new AbortController()
  const inProgress = new Set<Promise<unknown>>()
  let giveUp: (reason: string) => void = () => {}
  const gaveUp = new Promise<string>(resolve => {
    giveUp = resolve
  })

  const track = <T>(work: Promise<T>): Promise<T> => {
    inProgress.add(work)
    const done = () => void inProgress.delete(work)
    work.then(done, done)
    return work
  }

  /** Ends a child that runs and has failed. It counts as a death, so one that no start helps is given up. */
  const endFailed = async (entry: Running, child: Child): Promise<void> => {
    // Room that lasts: a new start that meets a full disk again fails again.
    for (let failed = 0; failed < FAILED_POLLS; ) {
      await pause(FAILED_POLL_MS)
      if (stopping.signal.aborted || entry.child !== child) return
      failed = (await entry.unit.hasFailed?.()) && hasRoom() ? failed + 1 : 0
    }
    log(`${entry.unit.name} runs and has failed: it is started again`)
    await child.stop()
  }

  const watch = (entry: Running, child: Child): void => {
    entry.child = child
    if (entry.unit.hasFailed) endFailed(entry, child).catch((error: unknown) => log(String(error)))
    void child.exited.then(exit => {
      if (stopping.signal.aborted) return
      entry.child = null
      log(`${entry.unit.name} ended unexpectedly (${exit.signal ?? `code ${exit.code}`}); the end of ${child.logFile}:`)
      log(`  ${logTail(child.logFile)}`)
      void track(restart(entry, wasKilled(exit) || isUnderAway(entry)))
    })
  }

  /** Whether one that was started before it, and may be what it needs, does not run. */
  const isUnderAway = (entry: Running): boolean => {
    const own = groups.findIndex(group => group.includes(entry))
    return groups.slice(0, own).some(group => group.some(({ child }) => child === null))
  }

  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})

  /** Waits for room on the disk. Whether there was none. */
  const untilRoom = async ({ unit }: Running): Promise<boolean> => {
    if (hasRoom()) return false
    log(`The disk is full: ${unit.name} is started again when there is room`)
    while (!stopping.signal.aborted && !hasRoom()) await pause(ROOM_POLL_MS)
    return true
  }

  /** How long to wait before the next start; null when it died too often. */
  const delayBefore = (entry: Running, isCounted: boolean): number | null => {
    const now = performance.now()
    const recent = entry.deaths.filter(at => now - at < policy.windowMs)
    entry.deaths = isCounted ? [...recent, now] : recent
    if (entry.deaths.length > policy.deathsMax) return null
    return Math.min(policy.firstDelayMs * 2 ** Math.max(entry.deaths.length - 1, 0), policy.delayMsMax)
  }

  /** Starts it again until it runs, or has died too often. What was killed, met a full disk, or missed another has not died of itself. */
  const restart = async (entry: Running, isExcused: boolean): Promise<void> => {
    const { unit } = entry
    for (let isCounted = !isExcused; !stopping.signal.aborted; ) {
      const metFullDisk = await untilRoom(entry)
      const delayMs = delayBefore(entry, isCounted && !metFullDisk)
      if (delayMs === null) {
        giveUp(`${unit.name} died ${entry.deaths.length} times within ${Math.round(policy.windowMs / 1000)} s`)
        return
      }
      log(`${unit.name} is started again in ${delayMs / 1000} s`)
      await pause(delayMs)
      if (stopping.signal.aborted) return
      try {
        watch(entry, await unit.start(stopping.signal))
        log(`${unit.name} runs again`)
        return
      } catch (error) {
        if (!stopping.signal.aborted) log(error instanceof Error ? error.message : String(error))
        isCounted = !(error instanceof StartFailure && wasKilled(error.exit)) && !isUnderAway(entry)
      }
    }
  }

  return {
    gaveUp,
    start: async units => {
      const group = units.map((unit): Running => ({ unit, child: null, deaths: [] }))
      groups.push(group)
      const failing = new AbortController()
      const signal = AbortSignal.any([stopping.signal, failing.signal])
      const faults: unknown[] = []
      const start = async (entry: Running): Promise<void> => {
        try {
          watch(entry, await entry.unit.start(signal))
        } catch (error) {
          faults.push(error)
          failing.abort()
        }
      }
      // All are waited for, so that none is still starting when the first failure is reported and everything is stopped.
      await Promise.all(group.map(entry => track(start(entry))))
      if (faults.length > 0) throw faults[0]
    },
    stop: async () => {
      stopping.abort()
      await Promise.allSettled(inProgress)
      for (const group of groups.toReversed()) {
        for (const isFront of [true, false])
          await Promise.all(
            group.filter(({ unit }) => (unit.isFront ?? false) === isFront).map(({ child }) => child?.stop()),
          )
      }
    },
  }
}
