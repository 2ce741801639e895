// The right to advance a clock, which one call has at a time. It is renewed while the call lives, and ends soon after it was killed.
import { type Actor, type Database, inTenant } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant, type Instant, instantOf } from '../../../shared/time.ts'
import { moveClock } from '../subscriptions/test-clocks/store-clocks.ts'

/** Longer than a process is held up by what it computes or collects. */
export const LEASE_MS = 12_000
const RENEW_MS = 3_000

type Of = { readonly tenant: Tenant; readonly actor: Actor; readonly clockId: string }

export const leaseFrom = (now: Instant): string => formatInstant(instantOf(now + LEASE_MS))

/** Held from `until` on, which was stored. Each change of the clock is made only while the lease is still its own. */
export class ClockLease {
  private readonly database: Database
  private readonly of: Of
  private until: string
  /** One after the other: each tells by what the one before stored whether the lease is still its own. */
  private last: Promise<void> = Promise.resolve()
  private readonly timer: NodeJS.Timeout
  constructor(database: Database, of: Of, until: string) {
    this.database = database
    this.of = of
    this.until = until
    this.timer = setInterval(() => {
      // What was lost shows when the clock is moved on.
      this.store({}).catch(() => undefined)
    }, RENEW_MS)
  }

  /** Stores where the clock stands, and renews the lease. Throws INVALID_OPERATION when another call has it. */
  stand(time: Instant): Promise<void> {
    return this.store({ frozen_time: formatInstant(time) })
  }

  /** Stores where the clock came to stand, if it moved, and ends the lease. Throws as `stand` does. */
  end(time: Instant | null): Promise<void> {
    clearInterval(this.timer)
    return this.store(time === null ? {} : { frozen_time: formatInstant(time) }, true)
  }

  private store(values: { readonly frozen_time?: string }, isEnd = false): Promise<void> {
    const stored = this.last.then(() =>
      inTenant(this.database, this.of.tenant, this.of.actor, async uow => {
        const until = leaseFrom(uow.now)
        const isOwn = await moveClock(
          uow,
          this.of.clockId,
          { ...values, advancing_until: isEnd ? null : until },
          this.until,
        )
        if (!isOwn) {
          throw new AppError(
            'INVALID_OPERATION',
            'Another call advances the clock, as this one was held up; wait for it.',
            {
              resourceId: this.of.clockId,
            },
          )
        }
        return until
      }).then(until => {
        this.until = until
      }),
    )
    this.last = stored.catch(() => undefined)
    return stored
  }
}
