// Prices invoices that subscriptions will have, one subscription or many: their inputs in a few statements, their usage in one query.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { PausingWork } from '../../../../shared/pausing-work.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { readFunds } from '../../invoices/settlement/funds.ts'
import { isOpenEnded } from '../../invoices/table.ts'
import { type ClosedUsage, closedForNext } from '../late/closed-usage.ts'
import { findLateCharges } from '../late/late-charges.ts'
import type { LateCharge } from '../late/late-usage.ts'
import type { Deducted } from '../pricing/deducted.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type PricedInvoice, pricingInvoice } from '../pricing/price-invoice.ts'
import { loadAdvanceCharges } from '../refunds/load-refunds.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from '../refunds/refunds.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { fundsRequest } from '../run/funds-request.ts'
import { deductedBefore, withDeducted } from '../run/state/deducted-before.ts'
import { keyOfRow, keyOfWindow, loadInvoicesOf, type SubscriptionInvoice } from '../run/state/subscription-invoices.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { loadManyInputs } from '../terms/load/load-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type ReadUsage, readUsage } from '../usage/usage-reader.ts'
import type { CandidateWindow } from './preview-windows.ts'

/** Everything that the next invoices of a subscription are computed from, but usage. */
export type PreviewState = {
  readonly inputs: BillingInputs
  readonly rows: readonly SubscriptionInvoice[]
  readonly funds: Awaited<ReturnType<typeof readFunds>>
  readonly closed: readonly ClosedUsage[]
  readonly ahead: readonly AdvanceCharge[]
}

/**
 * What many subscriptions are previewed from, in nearly as few statements as for one; a subscription that the tenant does not have is
 * absent. They share their funds.
 */
export async function loadPreviewStates(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<Map<string, PreviewState>> {
  const all = await loadManyInputs(uow, subscriptionIds)
  const [any] = all.values()
  if (!any) return new Map()
  const ids = [...all.keys()]
  const invoices = await loadInvoicesOf(uow, ids)
  const invoiceIds = [...invoices.values()]
    .flat()
    .filter(isOpenEnded)
    .map(({ id }) => id)
  const customerIds = [...all.values()].map(({ customer }) => customer.id)
  const funds = await readFunds(uow, { customerIds, invoiceIds })
  const closed = groupBy(await closedForNext(uow, any.platform.late_event_policy, ids), each => each.subscription_id)
  const rowsOf = await withDeducted(
    uow,
    [...all].map(([id, inputs]) => ({ inputs, rows: invoices.get(id) ?? [] })),
  )
  const states = new Map<string, PreviewState>()
  for (const [place, [id, inputs]] of [...all].entries()) {
    const ahead = await loadAdvanceCharges(uow, inputs)
    states.set(id, { inputs, rows: rowsOf[place] ?? [], funds, closed: closed.get(id) ?? [], ahead })
  }
  return states
}

/** An invoice to preview. */
export type ChosenPreview = { readonly state: PreviewState; readonly choice: CandidateWindow }
export type ReadPreview = ChosenPreview & { readonly late: readonly LateCharge[]; readonly usage: ReadUsage }

/** Reads what the invoices bill, of one subscription or many: the usage of all in one query. In their order. */
export async function readPreviews<T extends ChosenPreview>(
  deps: BillingDeps,
  tenant: Tenant,
  chosen: readonly T[],
): Promise<(T & ReadPreview)[]> {
  // At most one invoice of a subscription bills late usage.
  const withLate = await Promise.all(
    chosen.map(async each => {
      const { inputs, closed } = each.state
      const { billsLateUsage, window } = each.choice
      const of = { tenant, inputs, terms: resolveTerms(inputs), closed, key: keyOfWindow(window) }
      return { ...each, late: billsLateUsage && closed.length > 0 ? await findLateCharges(deps, of) : [] }
    }),
  )
  return await Promise.all(
    withLate.map(async each => {
      const charges = [...each.choice.charges, ...each.late.map(({ charge }) => charge)]
      return { ...each, usage: await readUsage(deps, { tenant, inputs: each.state.inputs, charges }) }
    }),
  )
}

/**
 * The invoice, as if no other were to be paid before it. `deducted`: what discounts take off on the previewed invoices before
 * it.
 */
export const pricingPreview = (read: ReadPreview, deducted: readonly Deducted[] = []): PausingWork<PricedInvoice> =>
  pricingInvoice(read.state.inputs, previewRequest(read, deducted))

/** What it is priced from. */
export function previewRequest(read: ReadPreview, deducted: readonly Deducted[] = []): InvoiceRequest {
  const { choice, late, usage } = read
  const { inputs, rows, ahead, funds } = read.state
  const previewed = new Set(deducted.map(({ invoiceId }) => invoiceId))
  const stored = deductedBefore(inputs, rows, choice.window).filter(({ invoiceId }) => !previewed.has(invoiceId))
  return {
    terms: resolveTerms(inputs),
    window: choice.window,
    billed: choice.billed,
    deducted: [...stored, ...deducted],
    ...usage,
    late,
    refunds: refundsIn(choice.window, refundTimes(inputs), ahead),
    ...funds.payers(fundsOf(read)),
    finalizedAt: null,
  }
}

/** The invoice that stands for the period already; null when there is none. */
export const invoiceIdOf = ({ state, choice }: ChosenPreview): string | null =>
  state.rows.find(row => isOpenEnded(row) && keyOfRow(row) === keyOfWindow(choice.window))?.id ?? null

export const fundsOf = (of: ChosenPreview) =>
  fundsRequest(of.state.inputs, { window: of.choice.window, invoiceId: invoiceIdOf(of) })
