// An invoice on its way to be saved: its stored state, its new state, and the events of the change. Pure, so any number
// of invoices can be computed first and saved together (save-together.ts).
import { isDeepStrictEqual } from 'node:util'
import { localDateOf } from '../../../../shared/billing/local-days.ts'
import type { EventType } from '../../../../shared/contracts/event-types.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { zoneNamed } from '../document/invoice-dates.ts'
import { isAnswered } from '../document/tax/engine-question.ts'
import type { LineValues } from '../lines/table.ts'
import { type ComputedInvoice, storedColumns } from '../producer.ts'
import type { NewInvoice } from '../repository.ts'
import { isPaid, paymentStatusOf } from '../settlement/settlement.ts'
import { isSameContent } from '../stored-content.ts'
import type { InvoiceColumns, InvoiceRow, InvoiceStatus } from '../table.ts'
import { MissingTaxAnswer, type NeededAnswer } from '../tax/answers/missing-answer.ts'

type Notice = { readonly type: EventType; readonly row: InvoiceRow; readonly previous: InvoiceRow | null }

export type PendingInvoice = {
  /** The stored state; null for a new invoice. */
  readonly stored: InvoiceRow | null
  /** The new state. An invoice that becomes FINAL has no number yet: numbers are taken last. */
  readonly row: InvoiceRow
  /** The new lines; null where the lines stay. */
  readonly lines: readonly LineValues[] | null
  readonly notices: readonly Notice[]
}

/** The customer of the invoice, and the time of the change. */
type Moment = { readonly tenant: Tenant; readonly now: Instant }

const STATUS_EVENTS: Readonly<Record<InvoiceStatus, EventType>> = {
  OPEN: 'INVOICE.STATUS_TO_OPEN',
  DRAFT: 'INVOICE.STATUS_TO_DRAFT',
  FINAL: 'INVOICE.STATUS_TO_FINAL',
  VOID: 'INVOICE.STATUS_TO_VOID',
  ARCHIVED: 'INVOICE.STATUS_TO_ARCHIVED',
}

/** A stored invoice without changes. */
export const unchanged = (stored: InvoiceRow): PendingInvoice => ({ stored, row: stored, lines: null, notices: [] })

/** A new invoice. Emits INVOICE.CREATED. */
export function created({ tenant, now }: Moment, values: NewInvoice, lines: readonly LineValues[]): PendingInvoice {
  const at = formatInstant(now)
  const row: InvoiceRow = {
    platform_id: tenant.platformId,
    environment: tenant.environment,
    id: newId('invo'),
    created_at: at,
    updated_at: at,
    custom_fields: [],
    ...values,
  }
  return { stored: null, row, lines, notices: [{ type: 'INVOICE.CREATED', row, previous: null }] }
}

/**
 * Applies `values` where they differ, and then `lines`, which come from the same draft as the content. Emits UPDATED,
 * and STATUS_TO_… when the status changed; nothing with `announces: false`.
 */
export function changed(
  pending: PendingInvoice,
  now: Instant,
  values: Partial<NewInvoice>,
  { lines, announces = true }: { readonly lines?: readonly LineValues[]; readonly announces?: boolean } = {},
): PendingInvoice {
  const { row } = pending
  // A closed invoice is not computed again.
  const closes = values.status !== undefined && values.status !== 'OPEN' && values.status !== 'DRAFT'
  // What wallets would have paid of an invoice that is not to be issued is theirs again.
  const freed = values.status === 'VOID' || values.status === 'ARCHIVED' ? { wallet_amount: '0' } : {}
  const all = closes ? { ...values, ...freed, to_be_reprocessed_at: null } : values
  const others = differing(all, row)
  if (others.length === 0) return pending
  // Computing it again with the same result is no change.
  const isPublic = others.some(([name]) => name !== 'inputs_hash' && name !== 'usage_counted_until')
  const updated = isPublic ? { updated_at: formatInstant(now) } : {}
  const next: InvoiceRow = { ...row, ...Object.fromEntries(others), ...updated }
  return {
    ...pending,
    row: next,
    lines: lines ?? pending.lines,
    notices: isPublic && announces ? noticesOf(pending, next) : pending.notices,
  }
}

/** The values that are others than in the row. Where an amount is another the content is too, and need not be compared. */
function differing({ content, ...values }: Partial<NewInvoice>, row: InvoiceRow): [string, unknown][] {
  const current: Partial<Record<string, unknown>> = row
  const others = Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, current[name]))
  if (content === undefined) return others
  const isAnother = others.some(([name]) => name === 'amount_excluding_tax') || !isSameContent(content, row.content)
  return isAnother ? [...others, ['content', content]] : others
}

function noticesOf({ row, notices }: PendingInvoice, next: InvoiceRow): Notice[] {
  const updated: Notice = { type: 'INVOICE.UPDATED', row: next, previous: row }
  const moved: Notice = { type: STATUS_EVENTS[next.status], row: next, previous: null }
  return [...notices, updated, ...(next.status === row.status ? [] : [moved])]
}

type Finalizing = Pick<InvoiceColumns, 'content' | 'timezone'>

/** Why an invoice cannot become FINAL at `now`, as a message; null when it can. */
export function finalFault({ content, timezone }: Finalizing, now: Instant): string | null {
  const error = content.validation_result.find(result => result.status === 'ERROR')
  if (error) return error.details
  return lacking({ content, timezone }, now)
    ? 'The tax engine is asked once more on the invoice date; it has not answered yet.'
    : null
}

/** What the tax engine has to answer before the invoice becomes FINAL at `now`; null where nothing. */
function lacking({ content: { tax_question: open }, timezone }: Finalizing, now: Instant): NeededAnswer | null {
  const asOf = localDateOf(now, zoneNamed(timezone))
  return open && !isAnswered(open, asOf) ? { key: open.key, question: open.question, asOf } : null
}

/**
 * Makes it FINAL, with its computed content frozen. Emits INVOICE.UPDATED and INVOICE.STATUS_TO_FINAL, and
 * INVOICE.PAID where wallets have paid all of it. Throws INVALID_OPERATION when a required figure is missing.
 */
export function finalized(pending: PendingInvoice, now: Instant, computed: ComputedInvoice): PendingInvoice {
  const fault = finalFault(computed.columns, now)
  const needed = lacking(computed.columns, now)
  if (needed) throw new MissingTaxAnswer([needed], `The invoice cannot become FINAL: ${fault}`, 'status')
  if (fault !== null)
    throw new AppError('INVALID_OPERATION', `The invoice cannot become FINAL: ${fault}`, { field: 'status' })
  const at = formatInstant(now)
  const columns = storedColumns(computed)
  // Equal content keeps what is stored: it is not written again, and notices have nothing to compare.
  const isStored = isSameContent(columns.content, pending.row.content)
  const owed = { ...pending.row, ...columns, ...(isStored ? { content: pending.row.content } : {}) }
  const next: InvoiceRow = {
    ...owed,
    status: 'FINAL',
    payment_status: paymentStatusOf(owed),
    on_hold: false,
    finalize_at: null,
    to_be_reprocessed_at: null,
    combine_fault: null,
    combine_fault_at: null,
    updated_to_final_at: at,
    updated_at: at,
  }
  const paid: Notice[] = isPaid(next.payment_status) ? [{ type: 'INVOICE.PAID', row: next, previous: null }] : []
  return { ...pending, row: next, lines: computed.lines, notices: [...noticesOf(pending, next), ...paid] }
}
