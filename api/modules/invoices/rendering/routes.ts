// The documents of invoices: the PDF, and links to PDF and page that expire.
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { getInvoice } from '../repository.ts'
import type { InvoiceView } from '../schema.ts'
import { DOCUMENT_POLICY, renderInvoiceHtml } from './html/render-html.ts'
import { documentToken, openDocumentToken } from './links/document-link.ts'
import { loadDocument } from './load-presentation.ts'
import { renderInvoicePdf } from './pdf/render-pdf.ts'

export type DocumentDeps = {
  readonly dataSecret: string
  readonly addresses?: { readonly baseUrl: string }
}

const about = { permission: 'INVOICE.VIEW', tag: 'invoices', method: 'GET', status: 200, params: IdParams } as const

const DownloadUrl = Type.Object(
  {
    resource: Type.Object({ type: Type.String(), id: Type.String() }, { title: 'ResourceIdentifier' }),
    expire_at: Type.String(),
    url: Type.String(),
  },
  { title: 'DownloadUrl' },
)

/** Registers the document routes, and the address that links point to. */
export function documentRoutes(app: FastifyInstance, deps: RouteDeps & DocumentDeps): void {
  actionRoute(app, deps, {
    ...about,
    summary: 'Read an invoice as a PDF.',
    url: '/v1/invoices/:id/pdf',
    response: Type.Unsafe<Buffer>(Type.String({ format: 'binary', description: 'application/pdf' })),
    handle: async ({ tenant, database }, { params }, reply) => {
      const { invoice, presentation } = await readTenant(database, tenant, uow => loadDocument(uow, params.id))
      asPdf(reply, invoice)
      return await renderInvoicePdf(invoice, presentation)
    },
  })
  actionRoute(app, deps, {
    ...about,
    summary: 'Get a link to an invoice that works for ten minutes without a key.',
    url: '/v1/invoices/:id/download-url',
    query: Shape({ format: Optional(OneOf('PDF', 'HTML')) }),
    response: DownloadUrl,
    handle: async ({ tenant, database }, { params, query }) => {
      const { id } = await readTenant(database, tenant, uow => getInvoice(uow, params.id))
      const document = { tenant, invoiceId: id, format: query.format ?? 'PDF' }
      const { token, expiresAt } = await documentToken(deps.dataSecret, document, database.clock.now())
      return {
        resource: { type: 'INVOICE', id },
        expire_at: formatInstant(expiresAt),
        url: `${deps.addresses?.baseUrl ?? ''}/documents?token=${token}`,
      }
    },
  })
  linkedRoute(app, deps)
}

const TOKEN_MAX = 2_000

/** An invalid link and an expired one get the same response, so that trying reveals nothing. */
function linkedRoute(app: FastifyInstance, deps: RouteDeps & DocumentDeps): void {
  const options = { config: { permission: 'public' }, schema: { hide: true } } as const
  app.get<{ Querystring: { token?: unknown } }>('/documents', options, async ({ query: { token } }, reply) => {
    const { database, dataSecret } = deps
    const complete = typeof token === 'string' && token.length <= TOKEN_MAX
    const linked = complete ? await openDocumentToken(dataSecret, token, database.clock.now()) : null
    if (linked === null) {
      throw new AppError('RESOURCE_NOT_FOUND', 'This link has expired or is not complete. Request a new one.')
    }
    const { invoice, presentation } = await readTenant(database, linked.tenant, uow =>
      loadDocument(uow, linked.invoiceId),
    )
    reply
      .header('cache-control', 'private, no-store')
      .header('referrer-policy', 'no-referrer')
      .header('x-robots-tag', 'noindex')
      .header('x-content-type-options', 'nosniff')
    if (linked.format === 'HTML') {
      reply.type('text/html; charset=utf-8').header('content-security-policy', DOCUMENT_POLICY)
      return renderInvoiceHtml(invoice, presentation)
    }
    asPdf(reply, invoice)
    return await renderInvoicePdf(invoice, presentation)
  })
}

/** The file is named after the invoice, with characters that are valid on every system. */
function asPdf(reply: FastifyReply, { invoice_number: number, id }: InvoiceView): void {
  const name = (number ?? `draft-${id}`).replace(/[^0-9A-Za-z._-]/g, '_')
  reply.header('content-type', 'application/pdf').header('content-disposition', `inline; filename="${name}.pdf"`)
}
