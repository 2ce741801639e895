// Saves a change of an invoice: only when something differs, and with its events.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { LineValues } from '../lines/table.ts'
import type { NewInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { changed, unchanged } from './pending-invoice.ts'
import { saveTogether } from './save-together.ts'

/** Saves `values` where they differ from what is stored, as `changed` says. */
export async function change(
  uow: Uow,
  row: InvoiceRow,
  values: Partial<NewInvoice>,
  lines?: readonly LineValues[],
): Promise<InvoiceRow> {
  const [saved = row] = await saveTogether(uow, [changed(unchanged(row), uow.now, values, lines && { lines })])
  return saved
}

/**
 * What becomes of an invoice whose period its subscription no longer has. If the period came back, another invoice
 * would bill it.
 */
export const GONE_PERIOD = { status: 'VOID', on_hold: false, finalize_at: null, holds_period: false } as const

/** The refusal of a transition that the lifecycle forbids. */
export const invalidMove = (row: InvoiceRow, message: string, field = 'status'): AppError =>
  new AppError('INVALID_OPERATION', message, { field, resourceId: row.id, resourceType: 'INVOICE' })
