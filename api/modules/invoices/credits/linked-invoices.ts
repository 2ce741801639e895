// The documents linked to an invoice: what it credits or copies, and what credits or copies it.
import { and, asc, eq, inArray, or } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { amount, moneyView, toMoney } from '../../../../shared/money.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { lockInvoice } from '../repository.ts'
import type { LinkedInvoice } from '../schema.ts'
import { CREDIT_NOTE_TYPES } from '../settlement/settlement.ts'
import { type InvoiceRow, type StoredInvoice, invoices as v } from '../table.ts'

/** The links of an invoice, oldest first. */
export async function linksOf(uow: ReadUow, row: StoredInvoice): Promise<LinkedInvoice[]> {
  const others = await uow.tx
    .select({
      id: v.id,
      original_invoice_id: v.original_invoice_id,
      credit: v.credit,
      invoice_number: v.invoice_number,
      invoice_date: v.invoice_date,
      amount: v.amount_including_tax,
      currency: v.billing_currency,
    })
    .from(v)
    .where(
      and(
        inThisTenant(uow, v),
        or(
          eq(v.original_invoice_id, row.id),
          row.original_invoice_id === null ? undefined : eq(v.id, row.original_invoice_id),
        ),
      ),
    )
    .orderBy(asc(v.created_at), asc(v.id))
  return others.map(({ id, original_invoice_id, credit, invoice_number, invoice_date, ...of }) => {
    const isOurs = original_invoice_id === row.id
    return {
      id,
      link_type: isOurs ? (credit === null ? 'COPY' : 'CREDIT') : 'ORIGINAL',
      ...(credit?.note ? { note: credit.note } : {}),
      invoice_number,
      amount: moneyView(toMoney(amount(of.amount, of.currency))),
      invoice_date,
    }
  })
}

/** The credit notes of an invoice that count: those that are, or will be, issued. */
export const creditsOf = async (uow: ReadUow, originalId: Id<'invo'>): Promise<StoredInvoice[]> =>
  await uow.tx
    .select()
    .from(v)
    .where(
      and(
        inThisTenant(uow, v),
        eq(v.original_invoice_id, originalId),
        inArray(v.type, CREDIT_NOTE_TYPES),
        inArray(v.status, ['OPEN', 'DRAFT', 'FINAL']),
      ),
    )

/** The original of a credit note, locked. Always lock it before the note. */
export async function lockOriginal(uow: Parameters<typeof lockInvoice>[0], row: InvoiceRow): Promise<InvoiceRow> {
  if (row.original_invoice_id === null) throw new Error(`the credit note ${row.id} credits nothing`)
  return await lockInvoice(uow, row.original_invoice_id)
}
