// Every query of invoice lines.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type InvoiceLineRow, invoiceLines, type LineValues } from './table.ts'

const of = (uow: ReadUow, invoiceId: Id<'invo'>) =>
  and(inThisTenant(uow, invoiceLines), eq(invoiceLines.invoice_id, invoiceId))

/** The lines of an invoice in their order. */
export const linesOfInvoice = (uow: ReadUow, invoiceId: Id<'invo'>): Promise<InvoiceLineRow[]> =>
  uow.tx.select().from(invoiceLines).where(of(uow, invoiceId)).orderBy(asc(invoiceLines.line_order))

/**
 * Those that other invoices of the subscription read: what an invoice charges in advance, and what it deducts. While it is OPEN or DRAFT only
 * these become rows. It is computed again whenever its usage moves, and all its lines are in its content.
 */
export const linesOthersRead = (lines: readonly LineValues[]): readonly LineValues[] =>
  lines.filter(({ kind, source }) => kind === 'DISCOUNT' || source['in_advance'] === true)

/** The new lines of an invoice. */
export type LinesOf = { readonly invoiceId: string; readonly fresh: boolean; readonly lines: readonly LineValues[] }

/** Replaces the lines of many invoices, in two statements. None of the invoices may be FINAL. */
export async function replaceLinesOfMany(uow: Uow, all: readonly LinesOf[]): Promise<void> {
  const replaced = all.filter(({ fresh }) => !fresh).map(({ invoiceId }) => invoiceId)
  if (replaced.length > 0)
    await uow.tx
      .delete(invoiceLines)
      .where(and(inThisTenant(uow, invoiceLines), anyOf(invoiceLines.invoice_id, idsOf('invo', replaced))))
  const rows = all.flatMap(({ invoiceId, lines }) => lines.map(line => ({ invoice_id: invoiceId, ...line })))
  await insertMany(uow, invoiceLines, rows)
}
