// Says on invoices that are late why they wait: another subscription that they are combined with cannot be billed.
import { inTenant, readTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { idOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { at, formatInstant, instantOf } from '../../../../../shared/time.ts'
import { change } from '../../../invoices/changes/invoice-change.ts'
import { lockInvoice } from '../../../invoices/repository.ts'
import { lockSubscription } from '../../../subscriptions/billing-time/next-billing.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import type { WaitsFor } from '../outcome.ts'
import { loadSubscriptionInvoices } from '../state/subscription-invoices.ts'
import { LATE_MS } from './siblings.ts'

const reasonOf = (error: unknown): string =>
  error instanceof AppError ? error.message : 'the reason is in the log of the worker.'

/** Saves the reason on the DRAFT invoices of the subscription whose time has come. The run that issues them clears it. */
export async function saveWaitingReason(
  { database }: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  { subscriptionId, waitsFor }: { readonly subscriptionId: string; readonly waitsFor: WaitsFor },
): Promise<void> {
  const rows = await readTenant(database, tenant, uow => loadSubscriptionInvoices(uow, subscriptionId))
  const drafts = rows.filter(({ status }) => status === 'DRAFT').map(({ id }) => id)
  if (drafts.length === 0) return
  await inTenant(database, tenant, SERVICE, async uow => {
    await lockSubscription(uow, idOf('ppsu', subscriptionId))
    for (const id of drafts) {
      const row = await lockInvoice(uow, id)
      if (row.status !== 'DRAFT' || row.finalize_at === null || at(row.finalize_at) > uow.now) continue
      const combine_fault_at = row.combine_fault_at ?? formatInstant(uow.now)
      const without = formatInstant(instantOf(at(combine_fault_at) + LATE_MS))
      const combine_fault = `It waits for the subscription ${waitsFor.subscriptionId}, with which it is combined and which cannot be billed: ${reasonOf(waitsFor.error)} It is issued without it from ${without} on. To issue it before, make it FINAL.`
      await change(uow, row, { combine_fault, combine_fault_at })
    }
  })
}
