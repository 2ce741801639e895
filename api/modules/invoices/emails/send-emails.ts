// Sends what is scheduled of one invoice. The outcome is stored after the mail server took the letter: a process that dies between
// the two sends it again, under the same Message-ID.
import { and, asc, eq } from 'drizzle-orm'
import { type Actor, type Database, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Id } from '../../../../shared/ids.ts'
import { type Letter, type MailTransport, Undeliverable } from '../../../../shared/mail/transport.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadDocument } from '../rendering/load-presentation.ts'
import { renderDocument } from '../rendering/render-document.ts'
import { getInvoice } from '../repository.ts'
import { invoiceView } from '../view.ts'
import { recipientsOf } from './recipients.ts'
import { NO_ADDRESS, NO_MAIL } from './schedule-email.ts'
import { type InvoiceEmail, invoiceEmails } from './table.ts'
import { writeLetter } from './write-letter.ts'

const SERVICE: Actor = { id: null, requestId: null }

export type EmailDeps = {
  readonly database: Database
  /** Null where the installation sends no mail. `domain` is the one of the ids of letters. */
  readonly mail: { readonly transport: MailTransport<Letter>; readonly domain: string } | null
  readonly failpoint?: Failpoints
}

export type EmailRun = {
  readonly tenant: Tenant
  readonly invoiceId: Id<'invo'>
  /** Whether this is the last try: what fails now has FAILED. */
  readonly last: boolean
}

/** Sends every scheduled e-mail of the invoice, oldest first. Throws when one is to be tried again. */
export async function sendEmails(deps: EmailDeps, { tenant, invoiceId, last }: EmailRun): Promise<void> {
  const waiting = await readTenant(deps.database, tenant, uow =>
    uow.tx
      .select({ id: invoiceEmails.id })
      .from(invoiceEmails)
      .where(
        and(
          inThisTenant(uow, invoiceEmails),
          eq(invoiceEmails.invoice_id, invoiceId),
          eq(invoiceEmails.status, 'SCHEDULED'),
        ),
      )
      .orderBy(asc(invoiceEmails.created_at), asc(invoiceEmails.id)),
  )
  for (const { id } of waiting) {
    const outcome = await sendOne(deps, { tenant, invoiceId, last }, id)
    await deps.failpoint?.('invoice-emails.before-outcome')
    await inTenant(deps.database, tenant, SERVICE, uow => finish(uow, id, outcome))
  }
}

type Outcome = Pick<InvoiceEmail, 'status' | 'message'>
const failed = (message: string): Outcome => ({ status: 'FAILED', message })

async function sendOne(deps: EmailDeps, { tenant, invoiceId, last }: EmailRun, id: Id<'inem'>): Promise<Outcome> {
  const { mail } = deps
  if (!mail) return failed(NO_MAIL)
  try {
    const { source, recipients } = await readTenant(deps.database, tenant, async uow => ({
      source: await loadDocument(uow, invoiceId),
      recipients: await recipientsOf(uow, (await getInvoice(uow, invoiceId)).customer_id),
    }))
    if (!recipients) return failed(NO_ADDRESS)
    const { name, type, content } = await renderDocument('PDF', source)
    const refused = await mail.transport.send({
      ...writeLetter(source),
      ...recipients,
      messageId: `<${id}@${mail.domain}>`,
      attachments: [{ filename: name, contentType: type, content }],
    })
    const all = recipients.cc.length + 1
    return {
      status: 'SENT',
      message: refused === 0 ? null : `The mail server refused ${refused} of ${all} recipients.`,
    }
  } catch (error) {
    if (error instanceof Undeliverable) return failed('The mail server refused the letter or every recipient for good.')
    if (last) return failed('It could not be handed to the mail server, and is not tried again. Send it again.')
    throw withoutAddresses(error)
  }
}

/** The answer of a mail server may quote addresses, and the queue keeps and logs what its jobs throw. */
const withoutAddresses = (error: unknown): Error => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return new Error(`an invoice could not be sent by e-mail (${code}); it is tried again`)
}

/** A second worker changes no outcome. */
async function finish(uow: Uow, id: Id<'inem'>, { status, message }: Outcome): Promise<void> {
  const e = invoiceEmails
  const now = formatInstant(uow.now)
  const [changed] = await uow.tx
    .update(e)
    .set({ status, message, updated_at: now, sent_at: status === 'SENT' ? now : null })
    .where(and(inThisTenant(uow, e), eq(e.id, id), eq(e.status, 'SCHEDULED')))
    .returning({ invoiceId: e.invoice_id })
  if (!changed) return
  const row = await getInvoice(uow, changed.invoiceId)
  await emit(uow, {
    type: status === 'SENT' ? 'INVOICE.EMAIL_SENT' : 'INVOICE.EMAIL_FAILED',
    objectId: row.id,
    data: invoiceView(row, uow.now),
    previous: null,
  })
}
