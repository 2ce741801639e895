// How many reads of one tenant are at work at once. Without a limit, whoever sends a hundred searches in parallel has every connection to
// PostgreSQL and every turn of the process, and the calls of all others wait behind them.
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'

/** Less than a call waits for a connection: where PostgreSQL hangs, those that wait for a turn are answered no later than the others. */
const WAIT_MS = 3_000
const RETRY_AFTER_S = 1

type Waiting = { start(): void; refuse(error: AppError): void }
type Lane = { active: number; readonly waiting: Set<Waiting> }

export type ReadTurns = {
  /**
   * Runs `read` when fewer than the most of the tenant's reads are at work. Those that wait come in their order. Throws SERVICE_UNAVAILABLE
   * to one that waits too long, and to all that wait when a read that was at work found a service away.
   */
  run<T>(tenant: Tenant, read: () => Promise<T>): Promise<T>
}

/** `most`: reads of one tenant at once. `waitMs` is less in tests. */
export function createReadTurns(most: number, waitMs = WAIT_MS): ReadTurns {
  const lanes = new Map<string, Lane>()
  const leave = (name: string, lane: Lane): void => {
    const [next] = lane.waiting
    if (next) next.start()
    else lane.active -= 1
    if (lane.active === 0) lanes.delete(name)
  }
  return {
    run: async ({ platformId, environment }, read) => {
      const name = `${platformId} ${environment}`
      const lane = lanes.get(name) ?? { active: 0, waiting: new Set() }
      lanes.set(name, lane)
      if (lane.active < most) lane.active += 1
      else await turnIn(lane, waitMs)
      try {
        return await read()
      } catch (error) {
        if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')
          for (const each of lane.waiting) each.refuse(error)
        throw error
      } finally {
        leave(name, lane)
      }
    },
  }
}

/** Until one that leaves gives its place. */
const turnIn = (lane: Lane, waitMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      lane.waiting.delete(own)
    }
    const own: Waiting = {
      start: () => {
        end()
        resolve()
      },
      refuse: error => {
        end()
        reject(error)
      },
    }
    const timer = setTimeout(() => own.refuse(tooMany()), waitMs)
    lane.waiting.add(own)
  })

const tooMany = (): AppError =>
  new AppError(
    'SERVICE_UNAVAILABLE',
    'Too many slow reads of this platform are at work. Send fewer at once, or narrow them.',
    { retryAfterSeconds: RETRY_AFTER_S },
  )
