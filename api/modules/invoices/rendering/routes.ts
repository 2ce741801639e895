// The documents of invoices: the PDF, the e-invoices, and links to each of them and to the page, which expire.
import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { DOCUMENT_POLICY } from './html/render-html.ts'
import { DOCUMENT_FORMATS, documentToken, openDocumentToken } from './links/document-link.ts'
import { loadDocument } from './load-presentation.ts'
import { checkFormat, type Rendered, renderDocument, renderUbl } from './render-document.ts'

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
      const source = await readTenant(database, tenant, uow => loadDocument(uow, idOf('invo', params.id)))
      return asFile(reply, await renderDocument('PDF', source))
    },
  })
  eInvoiceRoutes(app, deps)
  actionRoute(app, deps, {
    ...about,
    summary: 'Get a link to an invoice that works for ten minutes without a key.',
    url: '/v1/invoices/:id/download-url',
    query: Shape({ format: Optional(OneOf(...DOCUMENT_FORMATS)) }),
    response: DownloadUrl,
    handle: async ({ tenant, database }, { params, query }) => {
      const source = await readTenant(database, tenant, uow => loadDocument(uow, idOf('invo', params.id)))
      const format = query.format ?? 'PDF'
      checkFormat(format, source)
      const { id } = source.invoice
      const document = { tenant, invoiceId: id, format }
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

/** The e-invoices: UBL as XML, and Factur-X as a PDF with the XML inside. */
function eInvoiceRoutes(app: FastifyInstance, deps: RouteDeps): void {
  actionRoute(app, deps, {
    ...about,
    summary: 'Read an invoice as an e-invoice in UBL 2.1.',
    url: '/v1/invoices/:id/ubl21',
    query: Shape({ include_invoice_pdf: Optional(OneOf('true', 'false')) }),
    response: Type.Unsafe<Buffer>(Type.String({ format: 'binary', description: 'application/xml' })),
    handle: async ({ tenant, database }, { params, query }, reply) => {
      const source = await readTenant(database, tenant, uow => loadDocument(uow, idOf('invo', params.id)))
      return asFile(reply, await renderUbl(source, { withPdf: query.include_invoice_pdf === 'true' }))
    },
  })
  actionRoute(app, deps, {
    ...about,
    summary: 'Read an invoice as an e-invoice in Factur-X.',
    url: '/v1/invoices/:id/factur-x',
    response: Type.Unsafe<Buffer>(Type.String({ format: 'binary', description: 'application/pdf' })),
    handle: async ({ tenant, database }, { params }, reply) => {
      const source = await readTenant(database, tenant, uow => loadDocument(uow, idOf('invo', params.id)))
      return asFile(reply, await renderDocument('FACTUR_X', source))
    },
  })
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
    const source = await readTenant(database, linked.tenant, uow => loadDocument(uow, idOf('invo', linked.invoiceId)))
    const rendered = await renderDocument(linked.format, source)
    reply
      .header('cache-control', 'private, no-store')
      .header('referrer-policy', 'no-referrer')
      .header('x-robots-tag', 'noindex')
      .header('x-content-type-options', 'nosniff')
    if (linked.format !== 'HTML') return asFile(reply, rendered)
    reply.type(rendered.type).header('content-security-policy', DOCUMENT_POLICY)
    return rendered.content
  })
}

function asFile(reply: FastifyReply, { type, name, content }: Rendered): Buffer {
  reply.header('content-type', type).header('content-disposition', `inline; filename="${name}"`)
  return content
}
