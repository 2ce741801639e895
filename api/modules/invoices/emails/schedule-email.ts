// Schedules that a FINAL invoice is sent by e-mail. The event queues the job, so the two commit together.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emitAll } from '../../../outbox.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadInvoicingSettings } from '../document/load-parties.ts'
import { getInvoice, loadInvoices } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { invoiceView } from '../view.ts'
import { recipientsOf } from './recipients.ts'
import { type InvoiceEmail, invoiceEmails } from './table.ts'

/** Why an invoice cannot be sent to a customer without an address. */
export const NO_ADDRESS =
  'Neither the customer nor any of its contacts has an e-mail address for invoices. Set `email` of the customer or of a contact.'
export const NO_MAIL = 'This installation sends no e-mail: its operator has not set SMTP_URL and MAIL_FROM.'

/**
 * Schedules one sending of a FINAL invoice, and emits INVOICE.SEND_BY_EMAIL. Throws INVALID_OPERATION for an invoice that is not
 * FINAL, where no address is known, and where the installation sends no mail.
 */
export async function sendByEmail(
  uow: Uow,
  id: Id<'invo'>,
  { sendsMail }: { sendsMail: boolean },
): Promise<InvoiceRow> {
  const invoice = await getInvoice(uow, id)
  const about = { resourceId: invoice.id, resourceType: 'INVOICE' }
  if (!sendsMail) throw new AppError('INVALID_OPERATION', NO_MAIL, about)
  if (invoice.status !== 'FINAL')
    throw new AppError('INVALID_OPERATION', `Only a FINAL invoice is sent; this one is ${invoice.status}.`, {
      ...about,
      field: 'status',
    })
  if (!(await recipientsOf(uow, invoice.customer_id)))
    throw new AppError('INVALID_OPERATION', NO_ADDRESS, { resourceId: invoice.customer_id, resourceType: 'CUSTOMER' })
  await schedule(uow, [invoice], 'MANUAL')
  return invoice
}

/** Schedules those of these invoices that the platform sends by itself and has not yet. Safe to run twice. */
export async function sendAutomatically(uow: Uow, ids: readonly Id<'invo'>[]): Promise<void> {
  const { invoice_settings: settings } = await loadInvoicingSettings(uow)
  if (settings.send_by_email?.trigger_type !== 'AUTOMATIC') return
  const rows = await loadInvoices(uow, ids)
  const e = invoiceEmails
  const sent = await uow.tx
    .select({ id: e.invoice_id })
    .from(e)
    .where(and(inThisTenant(uow, e), anyOf(e.invoice_id, [...ids]), eq(e.trigger_type, 'AUTOMATIC')))
  const known = new Set(sent.map(({ id }) => id))
  const due = [...rows.values()].filter(row => row.status === 'FINAL' && !known.has(row.id))
  await schedule(uow, due, 'AUTOMATIC')
}

async function schedule(
  uow: Uow,
  rows: readonly InvoiceRow[],
  trigger_type: InvoiceEmail['trigger_type'],
): Promise<void> {
  if (rows.length === 0) return
  const now = formatInstant(uow.now)
  await insertMany(
    uow,
    invoiceEmails,
    rows.map(({ platform_id, environment, id }) => ({
      platform_id,
      environment,
      id: newId('inem'),
      created_at: now,
      updated_at: now,
      invoice_id: id,
      trigger_type,
      status: 'SCHEDULED' as const,
      message: null,
      sent_at: null,
      claimed_until: null,
    })),
  )
  await emitAll(
    uow,
    rows.map(row => ({
      type: 'INVOICE.SEND_BY_EMAIL' as const,
      objectId: row.id,
      data: invoiceView(row, uow.now),
      previous: null,
    })),
  )
}
