// The invoice's own custom fields: data of other systems, such as its number in the ledger. No document shows them, so
// they may change after it is FINAL.
import type { Uow } from '../../../../shared/database/database.ts'
import { emit } from '../../../outbox.ts'
import { type GivenFields, planValues, saveValues } from '../../../resource/custom-fields/values.ts'
import { saveInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { invoiceView } from '../view.ts'
import { invalidMove } from './invoice-change.ts'

/**
 * Merges the given values into those of a locked invoice. Emits UPDATED. Throws INVALID_OPERATION for an invoice that
 * is VOID or ARCHIVED.
 */
export async function setCustomFields(uow: Uow, row: InvoiceRow, fields: GivenFields | null): Promise<InvoiceRow> {
  if (fields === null) return row
  if (row.status === 'VOID' || row.status === 'ARCHIVED')
    throw invalidMove(row, `An invoice that is ${row.status} does not change.`, 'custom_fields')
  const change = await planValues(uow, { resourceType: 'INVOICE', resourceId: row.id }, fields)
  if (!change) return row
  await saveValues(uow, row.id, change)
  const saved = await saveInvoice(uow, row.id, {})
  await emit(uow, {
    type: 'INVOICE.UPDATED',
    objectId: row.id,
    data: invoiceView(saved, uow.now),
    previous: invoiceView(row, uow.now),
  })
  return saved
}
