// What modules do for the customers of a test clock while it moves on, besides the billing of subscriptions.
import type { TaxEngine } from '../../shared/billing/tax/tax-engine.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Failpoints } from '../../shared/failpoint.ts'
import type { Tenant } from '../../shared/tenant.ts'
import type { Place } from '../resource/rules.ts'

export type ClockStepDeps = {
  readonly database: Database
  /** Null where the installation has none. */
  readonly taxEngine: TaxEngine | null
  readonly failpoint?: Failpoints | undefined
}

/** In LIVE a job does the same, for the customers without a test clock. */
export type ClockStep = {
  /**
   * Whether it runs before or after billing, at each time at which a subscription is due; null: only at the time to which the clock
   * advances. There, every step runs.
   */
  readonly besideBilling: 'BEFORE' | 'AFTER' | null
  /** Does what is due for the customers of the clock, in its time. */
  run(deps: ClockStepDeps, tenant: Tenant, clockId: string): Promise<unknown>
}

export const CLOCK_STEPS: Place<ClockStep> = { name: 'steps of test clocks' }
