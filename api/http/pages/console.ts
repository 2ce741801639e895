// The page at console_url. The console itself comes with sign-in; until then the page says where everything is.
import type { FastifyInstance } from 'fastify'
import { ICON_LINK } from '../../../shared/http/favicon.ts'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Millrace</title>
${ICON_LINK}
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
<main>
<h1>Millrace</h1>
<p>Millrace runs. The administrators' console is not part of this release; everything is done through the API.</p>
<ul>
<li><a href="/docs">Documentation</a>: quick start, concepts, pricing models, guides</li>
<li><a href="/v1/docs">API reference</a>: every call and field, also as <a href="/v1/openapi.json">OpenAPI 3.1</a></li>
<li><a href="/health/ready">Health</a></li>
</ul>
<p>Keys for the demo platforms are in <code>credentials.json</code> in the data folder.</p>
</main>
</html>
`
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Serves the page at /console. */
export function consoleRoute(app: FastifyInstance): void {
  app.get('/console', { config: { permission: 'public' }, schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE),
  )
}
