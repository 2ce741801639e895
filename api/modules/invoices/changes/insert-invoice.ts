// Inserts a new invoice first, because its added lines and custom fields refer to it.
import type { Uow } from '../../../../shared/database/database.ts'
import type { LineValues } from '../lines/table.ts'
import type { NewInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { created } from './pending-invoice.ts'
import { saveTogether } from './save-together.ts'

/** Stores it without an event; the caller emits INVOICE.CREATED once it is complete. */
export async function insertInvoice(uow: Uow, values: NewInvoice, lines: readonly LineValues[]): Promise<InvoiceRow> {
  const moment = { tenant: uow.tenant, now: uow.now }
  const [row] = await saveTogether(uow, [{ ...created(moment, values, lines), notices: [] }])
  if (!row) throw new Error('what is saved is given back')
  return row
}
