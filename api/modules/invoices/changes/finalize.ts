// Makes an invoice a document: checks, number, dates, and no change afterwards (semantics 5.1, 5.2).
import type { Uow } from '../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Recomputation } from '../producer.ts'
import type { InvoiceRow } from '../table.ts'
import { finalized, unchanged } from './pending-invoice.ts'
import { saveTogether } from './save-together.ts'

/**
 * Makes a locked DRAFT FINAL, as its producer computes it now: takes the next number, freezes what was computed and keeps what the
 * producer needs of it. Emits INVOICE.UPDATED and INVOICE.STATUS_TO_FINAL. Throws INVALID_OPERATION when a required figure is missing.
 */
export async function makeFinal(
  uow: Uow,
  row: InvoiceRow,
  current: Pick<Recomputation, 'compute' | 'close'>,
  failpoint?: Failpoints,
): Promise<InvoiceRow> {
  const [saved = row] = await saveTogether(
    uow,
    [finalized(unchanged(row), uow.now, current.compute(uow.now))],
    failpoint,
  )
  await current.close(uow)
  return saved
}
