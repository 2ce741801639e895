// How an invoice for a period of a subscription is computed again, for any caller (api/modules/invoices/producer.ts).

import type { Uow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import type { ComputedInvoice, InvoiceProducer, Recomputation } from '../../invoices/producer.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { lockSubscription, saveNextBilling, wakeBillingOfOver } from '../../subscriptions/billing-time/next-billing.ts'
import { saveClosedUsage } from '../late/closed-usage.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { savePins } from '../pinned/store-pinned.ts'
import { issueWithOthers } from './combined/issue-now.ts'
import {
  type BillingDeps,
  type CountedInvoice,
  computeInvoice,
  type InvoiceState,
  type PriceWindow,
  type Target,
} from './compute-invoice.ts'
import { keyOfRow, periodColumnsOf, SUBSCRIPTION_BILLING } from './state/subscription-invoices.ts'

/** The producer of the invoices of subscriptions. */
export const subscriptionProducer = (deps: BillingDeps): InvoiceProducer => ({
  name: SUBSCRIPTION_BILLING,
  finalizesByItself: true,
  settle: timeoutMs => deps.usage.settle(timeoutMs),
  lock: async (uow, row) => void (await lockSubscription(uow, idOf('ppsu', subscriptionOf(row)))),
  recompute: ({ tenant, actor, row, mayClose, prepare }, save) =>
    computeInvoice(
      deps,
      { tenant, actor, target: targetOf(row), mayClose: () => mayClose, prepare },
      (uow, state, build) => save(uow, recomputationOf(row.id, state, build)),
    ),
  issueWithOthers: of => issueWithOthers(deps, of),
  // No run was due for an invoice on hold; this run finds out when the next is due.
  released: (uow, row) => saveNextBilling(uow, subscriptionOf(row), formatInstant(uow.now)),
  closed: async (uow, row) => void (await wakeBillingOfOver(uow, subscriptionOf(row))),
})

function subscriptionOf({ id, pricing_plan_subscription_id }: InvoiceRow): string {
  if (pricing_plan_subscription_id === null) throw new Error(`the invoice ${id} is of no subscription`)
  return pricing_plan_subscription_id
}

/** Names an invoice that bills a subscription. */
export const targetOf = (row: InvoiceRow): Target => ({
  subscriptionId: subscriptionOf(row),
  key: keyOfRow(periodColumnsOf(row)),
})

function recomputationOf(invoiceId: string, state: InvoiceState, build: PriceWindow): Recomputation | null {
  const { window } = state
  if (!window) return null
  let last: CountedInvoice | null = null
  return {
    cutoffAt: window.cutoffAt,
    compute: (finalizedAt: Instant | null) => {
      last = build(window, finalizedAt)
      return computedOf(state, last)
    },
    close: async (uow: Uow) => {
      if (last) await closeWith(uow, { invoiceId, state, counted: last })
    },
  }
}

/** What the document needs from a priced invoice. */
const computedOf = (
  { inputsHash }: InvoiceState,
  { columns, lines, grants, usageCountedUntil }: CountedInvoice,
): ComputedInvoice => ({ columns, lines, grants, inputsHash, usageCountedUntil })

/** Stores what an invoice that closes in this transaction counted. Throws when the exact set of events is not known. */
async function closeWith(
  uow: Uow,
  of: { readonly invoiceId: string; readonly state: InvoiceState; readonly counted: CountedInvoice },
): Promise<void> {
  const { positions, counted, request } = of.counted
  const { inputs } = of.state
  if (positions === null) throw new Error('an invoice closes only when it is known what it counts')
  await saveClosedUsage(uow, [{ inputs, invoiceId: of.invoiceId, positions, charges: counted }])
  await savePins(uow, [{ invoiceId: of.invoiceId, inputs, request: pinnedRequest(request) }])
}
