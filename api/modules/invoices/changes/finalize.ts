// Makes an invoice a document: checks, number, dates, and no change afterwards (semantics 5.1, 5.2).
import type { Uow } from '../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { ComputedInvoice } from '../producer.ts'
import type { InvoiceRow } from '../table.ts'
import { finalized, unchanged } from './pending-invoice.ts'
import { saveTogether } from './save-together.ts'

/**
 * Makes a locked DRAFT FINAL: takes the next number and freezes what was computed. Emits INVOICE.UPDATED and
 * INVOICE.STATUS_TO_FINAL. Throws INVALID_OPERATION when a required figure is missing.
 */
export async function makeFinal(
  uow: Uow,
  row: InvoiceRow,
  computed: ComputedInvoice,
  failpoint?: Failpoints,
): Promise<InvoiceRow> {
  const [saved = row] = await saveTogether(uow, [finalized(unchanged(row), uow.now, computed)], failpoint)
  return saved
}
