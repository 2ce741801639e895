// Keeps a set of children running: starts them in order, restarts one that dies, stops all in reverse order.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, logTail, type Progress } from '../services/child.ts'

export type Unit = {
  readonly name: string
  /** Resolves once the unit does its work; rejects, with nothing left running, when it cannot. */
  start(signal: AbortSignal): Promise<Child>
}

export type Supervisor = {
  /** Starts these together and waits until all are ready. When one fails the others are stopped by `stop()`. */
  start(units: readonly Unit[]): Promise<void>
  /** Ends everything, last started first. Safe to call at any time, also while units start. */
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

type Running = { readonly unit: Unit; child: Child | null; deaths: number[] }

export function createSupervisor(log: Progress, policy: RestartPolicy = POLICY): Supervisor {
  const running: Running[] = []
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

  const watch = (entry: Running, child: Child): void => {
    entry.child = child
    void child.exited.then(exit => {
      if (stopping.signal.aborted) return
      entry.child = null
      log(`${entry.unit.name} ended unexpectedly (${exit.signal ?? `code ${exit.code}`}); the end of ${child.logFile}:`)
      log(`  ${logTail(child.logFile)}`)
      void track(restart(entry, exit.signal === 'SIGKILL'))
    })
  }

  /** A process that somebody killed is not sick, however often it happens: it is started again at once and not counted. */
  const restart = async (entry: Running, wasKilled: boolean): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      const now = performance.now()
      const recent = entry.deaths.filter(at => now - at < policy.windowMs)
      entry.deaths = wasKilled && attempt === 1 ? recent : [...recent, now]
      if (entry.deaths.length > policy.deathsMax) {
        giveUp(`${entry.unit.name} died ${entry.deaths.length} times within ${Math.round(policy.windowMs / 1000)} s`)
        return
      }
      const delayMs = Math.min(policy.firstDelayMs * 2 ** Math.max(entry.deaths.length - 1, 0), policy.delayMsMax)
      log(`${entry.unit.name} is started again in ${delayMs / 1000} s`)
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      try {
        watch(entry, await entry.unit.start(stopping.signal))
        log(`${entry.unit.name} runs again`)
        return
      } catch (error) {
        if (!stopping.signal.aborted) log(error instanceof Error ? error.message : String(error))
      }
    }
  }

  return {
    gaveUp,
    start: async units => {
      const starts = units.map(unit => {
        const entry: Running = { unit, child: null, deaths: [] }
        running.push(entry)
        return track(unit.start(stopping.signal).then(child => watch(entry, child)))
      })
      // All are waited for, so that none is still starting when the first failure is reported and everything is stopped.
      const results = await Promise.allSettled(starts)
      const failed = results.find(result => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    stop: async () => {
      stopping.abort()
      await Promise.allSettled(inProgress)
      for (const entry of running.toReversed()) await entry.child?.stop()
    },
  }
}
