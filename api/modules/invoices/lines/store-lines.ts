// Every query of invoice lines.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { isCreditNote } from '../settlement/settlement.ts'
import { type InvoiceRow, isOpenEnded } from '../table.ts'
import { type InvoiceLineRow, invoiceLines, type LineValues } from './table.ts'

const of = (uow: ReadUow, invoiceId: Id<'invo'>) =>
  and(inThisTenant(uow, invoiceLines), eq(invoiceLines.invoice_id, invoiceId))

/** The lines of an invoice in their order. */
export const linesOfInvoice = (uow: ReadUow, invoiceId: Id<'invo'>): Promise<InvoiceLineRow[]> =>
  uow.tx.select().from(invoiceLines).where(of(uow, invoiceId)).orderBy(asc(invoiceLines.line_order))

/**
 * The lines of an invoice that become rows. While it is OPEN or DRAFT those are what other invoices of the subscription read: what it
 * charges in advance, and what it deducts. It is computed again whenever its usage moves, and all its lines are in its content. Once it is
 * FINAL, each is a row. So is each of a credit note, whose lines say what may be given back no more.
 */
export const linesToStore = (
  row: Pick<InvoiceRow, 'status' | 'type'>,
  lines: readonly LineValues[],
): readonly LineValues[] =>
  isOpenEnded(row) && !isCreditNote(row)
    ? lines.filter(({ kind, source }) => kind === 'DISCOUNT' || source['in_advance'] === true)
    : lines

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
