// Sending an invoice by e-mail, and what became of each sending.
import { eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { idOf } from '../../../../shared/ids.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { listRoute } from '../../../list/list-route.ts'
import type { ListSpec } from '../../../list/list-spec.ts'
import { Nullable, OneOf, Optional, Timestamp } from '../../../resource/shapes.ts'
import { wholeInvoice } from '../answer.ts'
import { getInvoice } from '../repository.ts'
import { InvoiceView } from '../schema.ts'
import { sendByEmail } from './schedule-email.ts'
import { type InvoiceEmail, invoiceEmails } from './table.ts'

export type EmailRouteDeps = { /** Whether the workers of this installation send mail. */ readonly sendsMail?: boolean }

const Email = Type.Object(
  {
    id: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    trigger_type: OneOf('MANUAL', 'AUTOMATIC'),
    status: OneOf('SCHEDULED', 'SENT', 'FAILED'),
    message: Optional(Nullable(Type.String())),
    sent_at: Optional(Nullable(Timestamp)),
  },
  { title: 'InvoiceEmail' },
)
const EMAILS: ListSpec = { table: invoiceEmails, filters: {}, orderBy: ['created_at'], searchable: [], ranges: [] }
const PATH = '/v1/invoices'

/** Registers the routes. */
export function emailRoutes(app: FastifyInstance, deps: RouteDeps & EmailRouteDeps): void {
  writeRoute(app, deps, {
    tag: 'invoices',
    permission: 'INVOICE.UPDATE',
    summary: 'Send a FINAL invoice or credit note to its customer by e-mail, with its PDF.',
    method: 'POST',
    url: `${PATH}/:id/send_by_email`,
    status: 200,
    params: IdParams,
    response: InvoiceView,
    handle: async (uow, { params }) =>
      await wholeInvoice(uow, await sendByEmail(uow, idOf('invo', params.id), { sendsMail: deps.sendsMail ?? false })),
  })
  listRoute<InvoiceEmail>(app, deps, {
    tag: 'invoices',
    permission: 'INVOICE.VIEW',
    summary: 'List when an invoice was sent by e-mail, and what became of it.',
    url: `${PATH}/:id/emails`,
    list: EMAILS,
    item: Email,
    of: async (uow, id) => eq(invoiceEmails.invoice_id, (await getInvoice(uow, idOf('invo', id))).id),
    views: rows => rows.map(emailView),
  })
}

const emailView = ({ id, created_at, updated_at, trigger_type, status, message, sent_at }: InvoiceEmail) => ({
  id,
  created_at,
  updated_at,
  trigger_type,
  status,
  message,
  sent_at,
})
