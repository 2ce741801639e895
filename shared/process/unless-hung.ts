// A server that hangs keeps its connections open and says nothing; one that works on a long question says nothing either. A
// second, small question tells the two apart.

import { setTimeout as sleep } from 'node:timers/promises'

/** A server that is there and answers nothing. */
export class HungError extends Error {
  /** As a connection that timed out has, so that it is taken for one. */
  readonly code = 'ETIMEDOUT'
}

export type HungTimes = {
  /** How long an answer may take before the server is tried. */
  readonly quietMs: number
  /** How long the small question may take. */
  readonly probeMs: number
}

/** Together below the 5 s within which a caller is answered. */
const TIMES: HungTimes = { quietMs: 2_000, probeMs: 2_000 }
const TICKS = 20

export type UnlessHung = {
  /**
   * What `answer` gives, however long that takes while the server answers `probe`. Once it does not, `abandon` is called, which
   * frees what the question holds, and HungError is thrown.
   */
  answerOf<T>(answer: Promise<T>, abandon: (reason: HungError) => void): Promise<T>
}

/** False after `ms` in which this process had its turns: one that is kept busy itself would take any server for one that hangs. */
async function ticksOver(ms: number, signal: AbortSignal): Promise<false> {
  for (let tick = 0; tick < TICKS && !signal.aborted; tick += 1) await sleep(ms / TICKS, undefined, { ref: false })
  return false
}

/** A guard of one server. `probe` asks it the small question and throws when there is no answer; the signal ends it. */
export function createUnlessHung(
  name: string,
  probe: (signal: AbortSignal) => Promise<unknown>,
  times: HungTimes = TIMES,
): UnlessHung {
  // Of all that wait at one time only one asks.
  let asking: Promise<boolean> | null = null
  const isAlive = async (): Promise<boolean> => {
    const abort = new AbortController()
    const answered = probe(abort.signal).then(
      () => true,
      () => false,
    )
    try {
      return await Promise.race([answered, ticksOver(times.probeMs, abort.signal)])
    } finally {
      abort.abort()
    }
  }
  const isHung = async (): Promise<boolean> => {
    asking ??= isAlive().finally(() => {
      asking = null
    })
    return !(await asking)
  }

  return {
    answerOf: async (answer, abandon) => {
      let timer: NodeJS.Timeout | undefined
      let isOver = false
      const hung = new Promise<never>((_, reject) => {
        const watch = (): void => {
          timer = setTimeout(async () => {
            const gone = await isHung()
            if (isOver) return
            if (!gone) return watch()
            const error = new HungError(`${name} does not answer`)
            abandon(error)
            reject(error)
          }, times.quietMs)
          timer.unref()
        }
        watch()
      })
      try {
        return await Promise.race([answer, hung])
      } finally {
        isOver = true
        clearTimeout(timer)
      }
    },
  }
}
