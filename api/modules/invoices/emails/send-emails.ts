// Sends what is scheduled of one invoice. A worker claims a letter before it sends it, so that no two send the same one. The outcome is
// stored after the mail server took the letter: when a worker dies between the two, it is sent again under the same Message-ID.
import { and, asc, eq, isNull, lte, or } from 'drizzle-orm'
import { type Database, inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Id } from '../../../../shared/ids.ts'
import { type Letter, type MailTransport, Undeliverable } from '../../../../shared/mail/transport.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
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

/** A claim that is older belongs to a worker that died: sending ends long before, see `SEND_MS`. */
export const CLAIM_MS = 600_000
/** How long the document and the mail server may take together. Then the connection is ended, and the letter is tried again. */
const SEND_MS = 300_000

export type EmailDeps = {
  readonly database: Database
  /** Null where the installation sends no mail. `domain` is the one of the ids of letters. */
  readonly mail: { readonly transport: MailTransport<Letter>; readonly domain: string } | null
  readonly failpoint?: Failpoints
  /** Instead of `SEND_MS`. */
  readonly sendMs?: number
}

export type EmailRun = {
  readonly tenant: Tenant
  readonly invoiceId: Id<'invo'>
  /** Whether this is the last try: what fails now has FAILED. */
  readonly last: boolean
}

/** Sends every scheduled e-mail of the invoice that no other worker sends now, oldest first. Throws when one is to be tried again. */
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
  const within = <T>(work: (uow: Uow) => Promise<T>) => inTenant(deps.database, tenant, SERVICE, work)
  for (const { id } of waiting) {
    const claim = await within(uow => claimed(uow, id))
    if (!claim) continue
    let outcome: Outcome
    try {
      outcome = await sendOne(deps, { tenant, invoiceId, last }, id)
    } catch (error) {
      await within(uow => release(uow, claim))
      throw error
    }
    await deps.failpoint?.('invoice-emails.before-outcome')
    await within(uow => finish(uow, claim, outcome))
  }
}

const scheduled = (uow: Uow, id: Id<'inem'>) =>
  and(inThisTenant(uow, invoiceEmails), eq(invoiceEmails.id, id), eq(invoiceEmails.status, 'SCHEDULED'))

/** That one worker sends a letter. A claim of another worker on the same letter ends later. */
type Claim = { readonly id: Id<'inem'>; readonly until: string }

/** The claim with which this worker may send the letter now; null while another one sends it. */
async function claimed(uow: Uow, id: Id<'inem'>): Promise<Claim | null> {
  const { claimed_until } = invoiceEmails
  const until = formatInstant(instantOf(uow.now + CLAIM_MS))
  const [own] = await uow.tx
    .update(invoiceEmails)
    .set({ claimed_until: until })
    .where(and(scheduled(uow, id), or(isNull(claimed_until), lte(claimed_until, formatInstant(uow.now)))))
    .returning({ id: invoiceEmails.id })
  return own ? { id, until } : null
}

/** The letter while this worker has it: one that lost its claim changes nothing, because another worker sends the letter. */
const held = (uow: Uow, { id, until }: Claim) => and(scheduled(uow, id), eq(invoiceEmails.claimed_until, until))

const release = (uow: Uow, claim: Claim) =>
  uow.tx.update(invoiceEmails).set({ claimed_until: null }).where(held(uow, claim))

type Outcome = Pick<InvoiceEmail, 'status' | 'message'>
const failed = (message: string): Outcome => ({ status: 'FAILED', message })

async function sendOne(deps: EmailDeps, { tenant, invoiceId, last }: EmailRun, id: Id<'inem'>): Promise<Outcome> {
  const { mail } = deps
  if (!mail) return failed(NO_MAIL)
  const signal = AbortSignal.timeout(deps.sendMs ?? SEND_MS)
  try {
    const { source, recipients } = await readTenant(deps.database, tenant, async uow => ({
      source: await loadDocument(uow, invoiceId),
      recipients: await recipientsOf(uow, (await getInvoice(uow, invoiceId)).customer_id),
    }))
    if (!recipients) return failed(NO_ADDRESS)
    const { name, type, content } = await renderDocument('PDF', source)
    const letter = {
      ...writeLetter(source),
      ...recipients,
      messageId: `<${id}@${mail.domain}>`,
      attachments: [{ filename: name, contentType: type, content }],
    }
    signal.throwIfAborted()
    const refused = await mail.transport.send(letter, signal)
    const all = recipients.cc.length + 1
    return {
      status: 'SENT',
      message: refused === 0 ? null : `The mail server refused ${refused} of ${all} recipients.`,
    }
  } catch (error) {
    if (error instanceof Undeliverable) return failed('The mail server rejected the e-mail or all of its recipients.')
    if (last) return failed('The e-mail could not be sent and is not retried. Send it again.')
    throw withoutAddresses(error)
  }
}

/** The answer of a mail server may quote addresses, and the queue keeps and logs what its jobs throw. */
const withoutAddresses = (error: unknown): Error => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return new Error(`an invoice could not be sent by e-mail (${code}); it is tried again`)
}

/** Stores how it ended, once: an outcome never changes. */
async function finish(uow: Uow, claim: Claim, { status, message }: Outcome): Promise<void> {
  const e = invoiceEmails
  const now = formatInstant(uow.now)
  const [changed] = await uow.tx
    .update(e)
    .set({ status, message, updated_at: now, sent_at: status === 'SENT' ? now : null, claimed_until: null })
    .where(held(uow, claim))
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
