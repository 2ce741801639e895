// An invoice on its way to be saved: what is stored of it, what it is by now, and what consumers are told of the way. Pure; so any
// number of invoices are decided first, and saved together (save-together.ts).
import { isDeepStrictEqual } from 'node:util'
import type { EventType } from '../../../../shared/contracts/event-types.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import type { LineValues } from '../lines/table.ts'
import { type ComputedInvoice, storedColumns } from '../producer.ts'
import type { NewInvoice } from '../repository.ts'
import type { InvoiceColumns, InvoiceRow, InvoiceStatus } from '../table.ts'

type Notice = { readonly type: EventType; readonly row: InvoiceRow; readonly previous: InvoiceRow | null }

export type PendingInvoice = {
  /** As it is stored; null for a new one. */
  readonly stored: InvoiceRow | null
  /** As it is to be. One that becomes FINAL has no number yet: numbers are taken last. */
  readonly row: InvoiceRow
  /** What takes the place of its lines; null where they stay. */
  readonly lines: readonly LineValues[] | null
  readonly notices: readonly Notice[]
}

/** Whose invoice it is, and when it is changed. */
type Moment = { readonly tenant: Tenant; readonly now: Instant }

const STATUS_EVENTS: Readonly<Record<InvoiceStatus, EventType>> = {
  OPEN: 'INVOICE.STATUS_TO_OPEN',
  DRAFT: 'INVOICE.STATUS_TO_DRAFT',
  FINAL: 'INVOICE.STATUS_TO_FINAL',
  VOID: 'INVOICE.STATUS_TO_VOID',
  ARCHIVED: 'INVOICE.STATUS_TO_ARCHIVED',
}

/** One that is stored, with nothing changed. */
export const unchanged = (stored: InvoiceRow): PendingInvoice => ({ stored, row: stored, lines: null, notices: [] })

/** A new one. Tells INVOICE.CREATED. */
export function created({ tenant, now }: Moment, values: NewInvoice, lines: readonly LineValues[]): PendingInvoice {
  const at = formatInstant(now)
  const row: InvoiceRow = {
    ...values,
    platform_id: tenant.platformId,
    environment: tenant.environment,
    id: newId('invo'),
    created_at: at,
    updated_at: at,
    custom_fields: [],
  }
  return { stored: null, row, lines, notices: [{ type: 'INVOICE.CREATED', row, previous: null }] }
}

/**
 * With `values` where they are others, and then with `lines`, which follow from the same draft as the content. Tells UPDATED, and
 * STATUS_TO_… when the status moved.
 */
export function changed(
  pending: PendingInvoice,
  now: Instant,
  values: Partial<NewInvoice>,
  lines?: readonly LineValues[],
): PendingInvoice {
  const { row } = pending
  const current: Partial<Record<string, unknown>> = row
  // What is closed is not computed again.
  const closes = values.status !== undefined && values.status !== 'OPEN' && values.status !== 'DRAFT'
  const all = closes ? { ...values, to_be_reprocessed_at: null } : values
  const others = Object.entries(all).filter(([name, value]) => !isDeepStrictEqual(value, current[name]))
  if (others.length === 0) return pending
  // That it was computed again and came to the same is no change of it.
  const told = others.some(([name]) => name !== 'inputs_hash' && name !== 'usage_counted_until')
  const updated = told ? { updated_at: formatInstant(now) } : {}
  const next: InvoiceRow = { ...row, ...Object.fromEntries(others), ...updated }
  return {
    ...pending,
    row: next,
    lines: lines ?? pending.lines,
    notices: told ? noticesOf(pending, next) : pending.notices,
  }
}

function noticesOf({ row, notices }: PendingInvoice, next: InvoiceRow): Notice[] {
  const updated: Notice = { type: 'INVOICE.UPDATED', row: next, previous: row }
  const moved: Notice = { type: STATUS_EVENTS[next.status], row: next, previous: null }
  return [...notices, updated, ...(next.status === row.status ? [] : [moved])]
}

/** What keeps an invoice from going FINAL, as a message; null when nothing does. */
export function finalFault({ content }: Pick<InvoiceColumns, 'content'>): string | null {
  const error = content.validation_result.find(result => result.status === 'ERROR')
  return error?.details ?? null
}

/**
 * FINAL, with what was computed frozen. Tells INVOICE.UPDATED and INVOICE.STATUS_TO_FINAL. Throws INVALID_OPERATION when a figure
 * is missing.
 */
export function finalized(pending: PendingInvoice, now: Instant, computed: ComputedInvoice): PendingInvoice {
  const fault = finalFault(computed.columns)
  if (fault !== null)
    throw new AppError('INVALID_OPERATION', `The invoice cannot become FINAL: ${fault}`, { field: 'status' })
  const at = formatInstant(now)
  const next: InvoiceRow = {
    ...pending.row,
    ...storedColumns(computed),
    status: 'FINAL',
    on_hold: false,
    finalize_at: null,
    to_be_reprocessed_at: null,
    updated_to_final_at: at,
    updated_at: at,
  }
  return { ...pending, row: next, lines: computed.lines, notices: noticesOf(pending, next) }
}
