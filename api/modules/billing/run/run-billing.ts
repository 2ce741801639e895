// One subscription's billing: a group of one. Opens the invoice of the running period, closes ended ones and makes them FINAL after
// the grace.
import type { Tenant } from '../../../../shared/tenant.ts'
import type { BillingDeps } from './compute-invoice.ts'
import { type BillingRun, runGroup } from './run-group.ts'

/**
 * Brings the invoices of a subscription to what they should be now, and says when to come back (`next_billing_at`).
 * Idempotent: run twice, or by two workers, it gives the same invoices and numbers. Throws INVALID_OPERATION when a price
 * cannot be billed, RESOURCE_NOT_FOUND when the tenant has no such subscription.
 */
export async function runBilling(deps: BillingDeps, tenant: Tenant, subscriptionId: string): Promise<BillingRun> {
  const outcome = (await runGroup(deps, tenant, [subscriptionId])).get(subscriptionId)
  if (outcome?.kind === 'DONE') return outcome.run
  throw outcome?.kind === 'FAILED' ? outcome.error : new Error(`the run of ${subscriptionId} came to nothing`)
}
