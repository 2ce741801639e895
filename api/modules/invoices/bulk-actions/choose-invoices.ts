// Which invoices a bulk action is for.
import { and, asc, eq, gte, lt } from 'drizzle-orm'
import { addDays, type LocalDate, localDate, localDateOf, zoneOf } from '../../../../shared/billing/local-days.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, parseInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { invoices } from '../table.ts'
import type { BulkAction } from './table.ts'

/** The most invoices of one action. */
const INVOICES_MAX = 10_000

/**
 * The ids of the DRAFT invoices that bear this date, each in its own time zone, oldest first; those on hold are left
 * out. Throws MISSING_FIELD without a date, INVALID_FIELD for a date that does not exist, and INVALID_OPERATION where
 * there are too many.
 */
export async function chooseInvoices(
  uow: ReadUow,
  { finalize_invoices: parameters }: Pick<BulkAction, 'finalize_invoices'>,
): Promise<string[]> {
  if (!parameters)
    throw new AppError('MISSING_FIELD', 'Say which invoices become FINAL: finalize_invoices.invoice_date.', {
      field: 'finalize_invoices',
    })
  const day = dayOf(parameters.invoice_date)
  // Local days begin at most a day before or after those of UTC.
  const text = (date: LocalDate): string => `${date}T00:00:00Z`
  const rows = await uow.tx
    .select({ id: invoices.id, date: invoices.invoice_date, timezone: invoices.timezone })
    .from(invoices)
    .where(
      and(
        inThisTenant(uow, invoices),
        eq(invoices.status, 'DRAFT'),
        eq(invoices.on_hold, false),
        gte(invoices.invoice_date, text(addDays(day, -1))),
        lt(invoices.invoice_date, text(addDays(day, 2))),
      ),
    )
    .orderBy(asc(invoices.created_at), asc(invoices.id))
  const ids = rows.flatMap(({ id, date, timezone }) => {
    const zone = zoneOf(timezone)
    return date !== null && zone !== null && localDateOf(at(date), zone) === day ? [id] : []
  })
  if (ids.length <= INVOICES_MAX) return ids
  throw new AppError('INVALID_OPERATION', `At most ${INVOICES_MAX} invoices can be chosen; there are ${ids.length}.`, {
    field: 'finalize_invoices.invoice_date',
  })
}

function dayOf(text: string): LocalDate {
  const day = localDate(text.slice(0, 10))
  if (day && parseInstant(`${day}T00:00:00Z`) !== null) return day
  const message = 'invoice_date must be a day that exists, such as 2026-03-31, in a year from 1970 to 2199.'
  throw new AppError('INVALID_FIELD', message, { field: 'finalize_invoices.invoice_date' })
}
