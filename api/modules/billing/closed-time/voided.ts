// Nothing was ever owed for a VOID subscription, so its invoices become VOID with it (semantics 4.1).
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { afterSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { change } from '../../invoices/changes/invoice-change.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { invoices } from '../../invoices/table.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'

const v = alias(invoices, 'v')

const becomesVoid = (row: Subscription, previous: Subscription | null): boolean =>
  row.status === 'VOID' && previous !== null && previous.status !== 'VOID'

const invoicesOf = (uow: Uow, subscriptionId: Id<'ppsu'>, which: SQL) =>
  uow.tx
    .select({ id: sql<string>`coalesce(${v.combined_into_id}, ${v.id})`, number: v.invoice_number })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.pricing_plan_subscription_id, subscriptionId), which))
    .orderBy(v.id)

/**
 * Throws INVALID_OPERATION when a subscription is about to become VOID and one of its invoices is FINAL: a number once
 * given stays.
 */
export async function refuseVoidingBilled(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  if (!becomesVoid(row, previous)) return
  const [final] = await invoicesOf(uow, row.id, IS_ISSUED)
  if (!final) return
  const message = `Its invoice ${final.number ?? final.id} is FINAL, and a number once given stays; cancel the subscription instead.`
  throw new AppError('INVALID_OPERATION', message, { field: 'status', resourceId: final.id, resourceType: 'INVOICE' })
}

/** Voids every invoice of the subscription that is not closed. The caller holds the subscription's lock. */
async function voidInvoices(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  if (!becomesVoid(row, previous)) return
  for (const { id } of await invoicesOf(uow, row.id, inArray(v.status, ['OPEN', 'DRAFT']))) {
    await change(uow, await getInvoice(uow, idOf('invo', id)), { status: 'VOID', on_hold: false, finalize_at: null })
  }
}

export const VOIDED_EFFECTS = [afterSave(subscriptionResource, voidInvoices)] as const
