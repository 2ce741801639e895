// Notes that users write on an invoice. They are printed, so they are fixed when the invoice is.
import type { Uow } from '../../../../shared/database/database.ts'
import { type InvoiceRow, isOpenEnded } from '../table.ts'
import { change, invalidMove } from './invoice-change.ts'

/** Throws INVALID_OPERATION for an invoice that no longer changes. */
export function checkNotes(row: InvoiceRow): void {
  if (!isOpenEnded(row)) throw invalidMove(row, `The notes of an invoice that is ${row.status} are fixed.`, 'notes')
}

/**
 * Replaces the notes of a locked invoice; undefined keeps them. Notes that follow from its tax are always shown, so
 * they are ignored when a client sends back everything it was shown.
 */
export async function setNotes(
  uow: Uow,
  row: InvoiceRow,
  notes: readonly string[] | null | undefined,
): Promise<InvoiceRow> {
  if (notes === undefined) return row
  checkNotes(row)
  return await change(uow, row, { own_notes: (notes ?? []).filter(note => !row.content.notes.includes(note)) })
}
