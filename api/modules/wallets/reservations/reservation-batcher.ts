// Group commits: operations that arrive for a tenant in one turn of the event loop, or while a transaction runs, share the next one. A
// hot wallet is then locked and committed once for many operations, and never by two transactions of this process.
import { type Database, inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { isTestTime } from '../../../../shared/test-time.ts'
import type { EndOperation, ReserveOperation } from './decide.ts'
import { reserveMany } from './reserve-many.ts'
import { type Outcome, runBatch } from './run-batch.ts'

type Operation = ReserveOperation | EndOperation

type Done = Extract<Outcome, { row: unknown }>
type Waiting = {
  readonly operation: Operation
  readonly resolve: (done: Done) => void
  readonly reject: (error: unknown) => void
}
/** `slow`: how many of the running transactions take longer than SLOW_MS. */
type Counter = { waiting: Waiting[]; running: number; slow: number; isCalled: boolean; readonly busy: Set<string> }

const BATCH_MAX = 256
/**
 * Concurrent transactions of one tenant. One is normal, since two would have the disk keep twice as many commits; another begins while
 * one is slow, so that a wallet locked elsewhere makes none of the other operations wait for long.
 */
const LANES = 2
const SLOW_MS = 25

export type ReservationBatcher = { submit(tenant: Tenant, operation: Operation): Promise<Done> }

const unavailable = () =>
  new AppError('SERVICE_UNAVAILABLE', 'The database is not available; send it again.', { retryAfterSeconds: 2 })

export function createReservationBatcher(deps: {
  readonly database: Database
  readonly failpoint?: Failpoints | undefined
}): ReservationBatcher {
  const counters = new Map<string, Counter>()

  const transact = async (tenant: Tenant, operations: readonly Operation[]): Promise<Outcome[]> => {
    const reserves = operations.filter(isReserve)
    if (reserves.length > 0) return await reserveMany(deps, tenant, reserves)
    const ends = operations.filter(each => !isReserve(each))
    const outcomes = await inTenant(deps.database, tenant, SERVICE, uow => runBatch(uow, ends))
    await deps.failpoint?.('reservations.after-commit')
    return outcomes
  }

  const settle = (batch: readonly Waiting[], outcomes: readonly Outcome[]): void => {
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index]
      if (outcome && 'row' in outcome) resolve(outcome)
      else reject(outcome?.refused ?? new Error('an operation has no outcome'))
    }
  }

  /** Runs a batch and answers each of its operations; false when the database was not available. */
  const run = async (tenant: Tenant, batch: readonly Waiting[]): Promise<boolean> => {
    try {
      settle(
        batch,
        await transact(
          tenant,
          batch.map(({ operation }) => operation),
        ),
      )
      return true
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE'
      if (isAway || batch.length === 1) {
        for (const { reject } of batch) reject(error)
        return !isAway
      }
      // An operation that the database refuses must not fail the others.
      for (const [index, one] of batch.entries()) {
        if (await run(tenant, [one])) continue
        for (const { reject } of batch.slice(index + 1)) reject(unavailable())
        return false
      }
      return true
    }
  }

  const start = (tenant: Tenant, key: string, counter: Counter): void => {
    counter.isCalled = false
    while (counter.running < Math.min(LANES, 1 + counter.slow)) {
      const batch = takeBatch(counter)
      if (batch.length === 0) break
      const names = new Set(batch.map(({ operation }) => operation.wallet))
      for (const name of names) counter.busy.add(name)
      counter.running += 1
      let isSlow = false
      const slow = setTimeout(() => {
        isSlow = true
        counter.slow += 1
        next(tenant, key, counter)
      }, SLOW_MS)
      void run(tenant, batch).then(isThere => {
        clearTimeout(slow)
        if (isSlow) counter.slow -= 1
        for (const name of names) counter.busy.delete(name)
        counter.running -= 1
        // The operations behind it have waited as long as it has; each is answered within 5 s, and may be sent again.
        if (!isThere) for (const { reject } of counter.waiting.splice(0)) reject(unavailable())
        next(tenant, key, counter)
      })
    }
    if (counter.running === 0 && counter.waiting.length === 0) counters.delete(key)
  }

  /** At the end of this turn, so that all that arrive in it share a transaction. */
  const next = (tenant: Tenant, key: string, counter: Counter): void => {
    if (counter.isCalled) return
    counter.isCalled = true
    setImmediate(start, tenant, key, counter)
  }

  return {
    submit: (tenant, operation) =>
      new Promise((resolve, reject) => {
        // A transaction is in one time: operations in that of a test clock share theirs.
        const time = isTestTime() ? deps.database.clock.now() : ''
        const key = `${tenant.platformId} ${tenant.environment} ${time}`
        const counter = counters.get(key) ?? { waiting: [], running: 0, slow: 0, isCalled: false, busy: new Set() }
        counters.set(key, counter)
        counter.waiting.push({ operation, resolve, reject })
        // One whose wallet is in a running transaction waits for its end.
        if (!counter.busy.has(operation.wallet)) next(tenant, key, counter)
      }),
  }
}

const isReserve = (operation: Operation): operation is ReserveOperation => operation.kind === 'RESERVE'

/**
 * The oldest operations whose wallets are in no running transaction of the tenant, in their order: either reservations, each
 * reference once, or ends of reservations.
 */
function takeBatch(counter: Counter): Waiting[] {
  const batch: Waiting[] = []
  const rest: Waiting[] = []
  const names = new Set<string>()
  for (const each of counter.waiting) {
    const { operation } = each
    const name = isReserve(operation) ? `${operation.wallet} ${operation.reference}` : ''
    const isAlike = batch[0] === undefined || isReserve(batch[0].operation) === isReserve(operation)
    const fits = batch.length < BATCH_MAX && isAlike && !names.has(name) && !counter.busy.has(operation.wallet)
    if (fits && name !== '') names.add(name)
    ;(fits ? batch : rest).push(each)
  }
  counter.waiting = rest
  return batch
}
