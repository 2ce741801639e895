// The reprocess that waits for an invoice. Invoices do not know which module computes them again: it registers here.
import type { ReadUow } from '../../../shared/database/database.ts'
import { extensionsOf, type Place } from '../../resource/rules.ts'
import type { InvoiceView } from './schema.ts'
import type { InvoiceRow } from './table.ts'

type Waiting = NonNullable<InvoiceView['reprocess']>

/** The next reprocess that reaches the invoice; null when none waits or runs. */
export const REPROCESS_OF: Place<(uow: ReadUow, row: Pick<InvoiceRow, 'id'>) => Promise<Waiting | null>> = {
  name: 'reprocess of an invoice',
}

/** Only an invoice that is marked has one, so no other causes a query. */
export async function reprocessOf(uow: ReadUow, row: InvoiceRow): Promise<Pick<InvoiceView, 'reprocess'>> {
  if (row.to_be_reprocessed_at === null) return {}
  const [find] = extensionsOf(uow, REPROCESS_OF)
  const found = await find?.(uow, row)
  return found ? { reprocess: found } : {}
}
