// One evaluation of the alert rules of a tenant: of invoices, which needs no usage, and then of what is used.
import type { Tenant } from '../../../../shared/tenant.ts'
import { alertOverdue } from './alert-overdue.ts'
import { alertUse, type EvaluationDeps } from './alert-use.ts'

export type AlertsMade = {
  readonly INVOICE: number
  readonly ENTITLEMENT: number
  /** False when there was more than one evaluation takes; the next one continues there. */
  readonly complete: boolean
}

/** Makes what is due. Safe to run twice, and beside another. Throws while usage cannot be read; what is overdue is reported all the same. */
export async function evaluateAlerts(deps: EvaluationDeps, tenant: Tenant): Promise<AlertsMade> {
  const overdue = await alertOverdue(deps.database, tenant)
  const { made, complete } = await alertUse(deps, tenant)
  return { INVOICE: overdue, ENTITLEMENT: made, complete }
}
