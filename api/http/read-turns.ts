// Limits how many reads of one tenant run at once. Without it, a hundred parallel searches of one tenant would take every connection to
// PostgreSQL, and the calls of all other tenants would wait behind them.
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'

/** Shorter than the wait for a connection, so that waiting reads are answered no later than the others when PostgreSQL hangs. */
const WAIT_MS = 3_000
const RETRY_AFTER_S = 1

type Waiting = { start(): void; refuse(error: AppError): void }
type Lane = { active: number; readonly waiting: Set<Waiting> }

export type ReadTurns = {
  /**
   * Runs `read` as soon as fewer than the limit of the tenant's reads are running; waiting reads start in order. Throws
   * SERVICE_UNAVAILABLE when a read has waited too long, and to all waiting reads when a running one finds a service unavailable.
   */
  run<T>(tenant: Tenant, read: () => Promise<T>): Promise<T>
}

/** `most`: how many reads of one tenant may run at once. `waitMs`: how long a read may wait to start. */
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

/** Resolves when a running read ends and this one may start. */
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
    'Too many reads of this platform are running. Send fewer at the same time, or narrow them.',
    { retryAfterSeconds: RETRY_AFTER_S },
  )
