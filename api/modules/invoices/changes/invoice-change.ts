// How a change of an invoice is saved: only when it changes something, and with its events.
import { isDeepStrictEqual } from 'node:util'
import type { EventType } from '../../../../shared/contracts/event-types.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { emit } from '../../../outbox.ts'
import type { LineValues } from '../lines/table.ts'
import { type NewInvoice, saveInvoice } from '../repository.ts'
import type { InvoiceRow, InvoiceStatus } from '../table.ts'
import { invoiceView } from '../view.ts'

const STATUS_EVENTS: Readonly<Record<InvoiceStatus, EventType>> = {
  OPEN: 'INVOICE.STATUS_TO_OPEN',
  DRAFT: 'INVOICE.STATUS_TO_DRAFT',
  FINAL: 'INVOICE.STATUS_TO_FINAL',
  VOID: 'INVOICE.STATUS_TO_VOID',
  ARCHIVED: 'INVOICE.STATUS_TO_ARCHIVED',
}

/**
 * Saves `values` where they differ from what is stored, and with them `lines`, which follow from the same draft as the content.
 * Emits UPDATED, and STATUS_TO_… when the status moved.
 */
export async function change(
  uow: Uow,
  row: InvoiceRow,
  values: Partial<NewInvoice>,
  lines?: readonly LineValues[],
): Promise<InvoiceRow> {
  const current: Partial<Record<string, unknown>> = row
  // What is closed is not computed again.
  const closes = values.status !== undefined && values.status !== 'OPEN' && values.status !== 'DRAFT'
  const all = closes ? { ...values, to_be_reprocessed_at: null } : values
  const changed = Object.entries(all).filter(([name, value]) => !isDeepStrictEqual(value, current[name]))
  if (changed.length === 0) return row
  const saved = await saveInvoice(uow, row.id, Object.fromEntries(changed), lines)
  if (changed.every(([name]) => name === 'inputs_hash')) return saved // nothing a reader could see
  const data = invoiceView(saved)
  await emit(uow, { type: 'INVOICE.UPDATED', objectId: row.id, data, previous: invoiceView(row) })
  if (saved.status !== row.status) {
    await emit(uow, { type: STATUS_EVENTS[saved.status], objectId: row.id, data, previous: null })
  }
  return saved
}

/** For an invoice whose period its subscription no longer has: were the period to come back, it is billed by another. */
export const voidGonePeriod = (uow: Uow, row: InvoiceRow): Promise<InvoiceRow> =>
  change(uow, row, { status: 'VOID', on_hold: false, finalize_at: null, holds_period: false })

/** The refusal of a move the lifecycle forbids. */
export const invalidMove = (row: InvoiceRow, message: string, field = 'status'): AppError =>
  new AppError('INVALID_OPERATION', message, { field, resourceId: row.id, resourceType: 'INVOICE' })
