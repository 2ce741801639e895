// The billing of one subscription: a group of one. Opens the invoice of the running period, closes those of ended
// periods and makes them FINAL after the grace period.
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { saveWaitingReason } from './combined/save-waiting-reason.ts'
import type { BillingDeps } from './compute-invoice.ts'
import { runGroup } from './group/run-group.ts'
import type { BillingRun } from './outcome.ts'

/**
 * Brings the invoices of a subscription up to date, and returns when the next run is due (`next_billing_at`). Uses the
 * time of the customer's test clock, if it has one. Idempotent: run twice, or by two workers, it gives the same
 * invoices and numbers. Throws INVALID_OPERATION when a price cannot be billed, RESOURCE_NOT_FOUND when the tenant has
 * no such subscription, SERVICE_UNAVAILABLE when one that it is combined with could not be read.
 */
export const runBilling = (deps: BillingDeps, tenant: Tenant, subscriptionId: string): Promise<BillingRun> =>
  inTimeOf(deps.database, tenant, [subscriptionId], () => runNow(deps, tenant, subscriptionId))

async function runNow(deps: BillingDeps, tenant: Tenant, subscriptionId: string): Promise<BillingRun> {
  const outcome = (await runGroup(deps, tenant, [subscriptionId])).get(subscriptionId)
  if (outcome?.kind === 'DONE') return outcome.run
  if (outcome?.kind === 'FAILED') throw outcome.error
  const waitsFor = outcome?.waitsFor
  if (waitsFor) await saveWaitingReason(deps, tenant, { subscriptionId, waitsFor })
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    `What ${subscriptionId} is combined with${waitsFor ? `, ${waitsFor.subscriptionId},` : ''} could not be billed; send it again.`,
    {
      retryAfterSeconds: 1,
    },
  )
}
