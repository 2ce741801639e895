// What the invoices of subscriptions are computed from, read for many at once, with a hash that tells a later reading
// whether anything has changed.
import { hash } from 'node:crypto'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { type Id, idOf } from '../../../../../shared/ids.ts'
import { type ClosedUsage, closedForNext, lastClosedOf } from '../../late/closed-usage.ts'
import { loadAdvanceCharges } from '../../refunds/load-refunds.ts'
import type { AdvanceCharge } from '../../refunds/refunds.ts'
import { type BillingInputs, inputsHashOf, usingCustomer } from '../../terms/billing-inputs.ts'
import { loadManyInputs } from '../../terms/load/load-inputs.ts'
import { withDeducted } from './deducted-before.ts'
import { firstOpen, loadInvoicesOf, type SubscriptionInvoice } from './subscription-invoices.ts'

export type SubscriptionState = {
  readonly inputs: BillingInputs
  readonly inputsHash: string
  readonly rows: readonly SubscriptionInvoice[]
  /** What FINAL invoices charged ahead for the time after an end with a refund. */
  readonly ahead: readonly AdvanceCharge[]
  /** Changes when any input of an invoice of the subscription changes, except usage. */
  readonly hash: string
}

/** The states of these subscriptions; a subscription that the tenant does not have is absent. */
export async function loadStates(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionState>> {
  const rows =
    subscriptionIds.length === 0 ? new Map<string, SubscriptionInvoice[]>() : await loadInvoicesOf(uow, subscriptionIds)
  const inputs = await loadManyInputs(uow, subscriptionIds, id => firstOpen(rows.get(id) ?? []))
  const ids = [...inputs.keys()]
  const all = [...inputs].map(([id, own]) => ({ inputs: own, rows: rows.get(id) ?? [] }))
  const invoicesOf = await withDeducted(uow, all)
  const closed = await lastClosedOf(uow, ids)
  // Few subscriptions end with a refund, and the others need no query.
  const ahead = new Map<string, AdvanceCharge[]>()
  for (const [id, own] of inputs) ahead.set(id, await loadAdvanceCharges(uow, own))
  return new Map(
    [...inputs].map(([id, own], place): [string, SubscriptionState] => {
      const invoices = invoicesOf[place] ?? []
      const inputsHash = inputsHashOf(own)
      const text = JSON.stringify([inputsHash, invoices, closed.get(id) ?? null])
      return [
        id,
        {
          inputs: own,
          inputsHash,
          rows: invoices,
          ahead: ahead.get(id) ?? [],
          hash: hash('sha256', text),
        },
      ]
    }),
  )
}

/** The customers to lock while an invoice is saved: who gets it, and whose usage it bills. */
export const customersToLock = (inputs: BillingInputs): Id<'cust'>[] =>
  [...new Set([inputs.customer.id, usingCustomer(inputs).id])].map(id => idOf('cust', id))

/** What closed invoices counted. Only those whose late usage the next invoice of the subscription bills. */
export async function loadClosed(
  uow: ReadUow,
  states: ReadonlyMap<string, SubscriptionState>,
): Promise<ReadonlyMap<string, ClosedUsage[]>> {
  const busy = [...states].filter(([, { rows }]) => rows.length > 0)
  const [[, first] = []] = busy
  if (!first) return new Map()
  const closed = await closedForNext(
    uow,
    first.inputs.platform.late_event_policy,
    busy.map(([id]) => id),
  )
  return groupBy(closed, each => each.subscription_id)
}
