// Refusals as pages. Those of a refused authorization are two, and the second is the same, byte for byte, whatever the reason was: the reason is in
// the log alone (contract: Errors, "one undifferentiated 403").
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppError } from '../../shared/errors.ts'
import { html } from '../pages/html.ts'
import { page } from '../pages/layout.ts'

const HTML = 'text/html; charset=utf-8'

const BAD_REQUEST = page(
  'Not possible',
  html`<h1>This link does not work</h1>
<p>The application that sent you here is not registered, or asked to send you back to an address it did not register.
Nothing was shared. Go back to the application and try again; if it keeps happening, tell its maker.</p>`,
)
const REFUSED = page(
  'Not possible',
  html`<h1>This request cannot be answered</h1>
<p>It may be too old, already answered, or started in another browser. Nothing was shared.
Go back to the application and start again.</p>`,
)

/** A client or redirect address that cannot be trusted: never a redirect. */
export const sendInvalidClientPage = (request: FastifyRequest, reply: FastifyReply, reason: string): FastifyReply => {
  request.log.info({ reason }, 'an authorization request was refused')
  return reply.status(400).type(HTML).send(BAD_REQUEST)
}

export type UnusableClientDocument = { readonly clientId: string } & (
  | { readonly status: 400; readonly fault: string }
  | { readonly status: 503; readonly waitSeconds: number }
)

/** A client whose id is the address of a document that is wrong, or that cannot be read: never a redirect either. */
export const sendClientDocumentPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  bad: UnusableClientDocument,
): FastifyReply => {
  request.log.info({ clientId: bad.clientId.slice(0, 500), status: bad.status }, 'an authorization request was refused')
  if (bad.status === 503) reply.header('retry-after', String(bad.waitSeconds))
  // Why it cannot be read is in the log alone: from here it might tell what is reachable.
  const why =
    bad.status === 503
      ? 'That document cannot be read right now. Try again in a moment.'
      : `That document cannot be accepted: ${bad.fault}.`
  const text = page(
    'Not possible',
    html`<h1>This application cannot be identified</h1>
<p>The application that sent you here identifies itself by a document at <code>${bad.clientId.slice(0, 500)}</code>.
${why}</p>
<p>Nothing was shared. If it keeps happening, show this page to the maker of the application.</p>`,
  )
  return reply.status(bad.status).type(HTML).send(text)
}

/** The one 403. */
export const sendForbidden = (request: FastifyRequest, reply: FastifyReply, reason: string): FastifyReply => {
  request.log.info({ reason }, 'an authorization was refused')
  return reply.status(403).type(HTML).send(REFUSED)
}

/** Whether the caller is a person in a browser: programs do not accept HTML. */
const isPerson = (request: FastifyRequest): boolean => (request.headers.accept ?? '').includes('text/html')

/** Any other refusal: a page for a person, the body of the interface for a program. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: AppError): FastifyReply {
  reply.status(refusal.status)
  if (!isPerson(request)) return reply.send(refusal.toBody())
  const text = page(
    'Not possible',
    html`<h1>${refusal.status === 404 ? 'There is nothing here' : 'That did not work'}</h1>
<p>${refusal.message}</p>
<p class="hint">Request <code>${request.id}</code></p>
<p class="foot"><a href="/">To your account</a></p>`,
  )
  return reply.type(HTML).send(text)
}
