// The base address: a page that leads on for people, the same links as JSON for programs.
import type { FastifyInstance } from 'fastify'
import { PAGE_POLICY, page } from './html.ts'

const LINKS = {
  console: '/console',
  docs: '/docs',
  api_reference: '/v1/docs',
  openapi: '/v1/openapi.json',
  health: '/health/ready',
} as const

const BODY = `<h1>Millrace runs</h1>
<p>Usage-based billing: usage events in, explainable invoices out.</p>
<ul>
<li><a href="/console">Console</a>: a first look in the browser</li>
<li><a href="/v1/docs">API reference</a>: every call and every field, and as <a href="/v1/openapi.json">OpenAPI 3.1</a></li>
<li><a href="/docs/quick-start">Quick start</a>: from a meter to an invoice in seven steps</li>
<li><a href="/docs">Documentation</a>: concepts, pricing models, guides</li>
</ul>
<p>Keys of the demo platforms are in <code>credentials.json</code> in the data folder.</p>`

/** Serves /. */
export function rootPage(app: FastifyInstance): void {
  const html = page('Millrace', BODY)
  app.get('/', { config: { permission: 'public' }, schema: { hide: true } }, async (request, reply) => {
    reply.header('vary', 'accept')
    if (!String(request.headers.accept ?? '').includes('text/html')) return { name: 'Millrace', links: LINKS }
    return await reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(html)
  })
}
