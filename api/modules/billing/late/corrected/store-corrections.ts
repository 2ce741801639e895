// The corrections of FINAL invoices: which credit note and which new invoice belong together (CREDIT_AND_REBILL).
import { and, asc, eq, or } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../../shared/database/database.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { insertMany } from '../../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { type Correction, invoiceCorrections as k } from './table.ts'

/** Stores a correction that was just prepared. The database refuses a second one of the same invoice. */
export const insertCorrection = (
  uow: Uow,
  of: Omit<Correction, 'platform_id' | 'environment' | 'created_at' | 'status'>,
): Promise<void> => insertMany(uow, k, [{ ...of, created_at: formatInstant(uow.now), status: 'PREPARED' }])

/** The corrections of invoices of a subscription that are not issued, oldest first. */
export const correctionsNotIssued = async (uow: ReadUow, subscriptionId: string): Promise<Correction[]> =>
  (
    await uow.tx
      .select()
      .from(k)
      .where(and(inThisTenant(uow, k), eq(k.pricing_plan_subscription_id, subscriptionId)))
      .orderBy(asc(k.created_at), asc(k.new_invoice_id))
  ).filter(({ status }) => status !== 'ISSUED')

/** The correction with this document, either of the two; null when there is none. */
export async function correctionWith(uow: ReadUow, invoiceId: string): Promise<Correction | null> {
  const [found] = await uow.tx
    .select()
    .from(k)
    .where(and(inThisTenant(uow, k), or(eq(k.new_invoice_id, invoiceId), eq(k.credit_invoice_id, invoiceId))))
  return found ?? null
}

/** Saves these columns of a correction. */
export async function saveCorrection(
  uow: Uow,
  { new_invoice_id }: Pick<Correction, 'new_invoice_id'>,
  values: Partial<Pick<Correction, 'status' | 'positions'>>,
): Promise<void> {
  await uow.tx
    .update(k)
    .set(values)
    .where(and(inThisTenant(uow, k), eq(k.new_invoice_id, new_invoice_id)))
}
