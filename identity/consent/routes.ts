// Showing the consent screen and taking its answer. Whatever is wrong (too old, unknown, answered, another browser, another
// user, a foreign form, another's platform) is one and the same 403 (contract: Errors).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { membershipsOf } from '../../shared/access/memberships.ts'
import { asSystem } from '../../shared/database/database.ts'
import { KNOWN_CLIENTS } from '../checks/client-name.ts'
import { authorizationResponseUrl } from '../endpoints/authorization-response-url.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { csrfToken, hasValidCsrfToken } from '../http/csrf.ts'
import { sendForbidden } from '../http/refusal-page.ts'
import { allowFormTargets } from '../http/security-headers.ts'
import { sessionOf } from '../sessions/browser.ts'
import type { Session } from '../sessions/session-store.ts'
import { chosenPlatforms, insertGrant } from '../store/grants.ts'
import { type AuthorizationRequest, answerRequest, bindRequest, isPendingRequest } from '../store/requests.ts'
import { newSecretToken } from '../store/secret-token.ts'
import { browserHash, clearRequestCookie } from './browser-binding.ts'
import { consentPage, READ_ONLY } from './consent-page.ts'

const HTML = 'text/html; charset=utf-8'
const REQUEST_ID = /^areq_[0-9A-Za-z]{22}$/
/** Stands for an id that is not one: every failure asks the same questions of the database. */
const NO_REQUEST = 'areq_0000000000000000000000'

const requestIdIn = (value: unknown): string =>
  typeof value === 'string' && REQUEST_ID.test(value) ? value : NO_REQUEST

export function consentRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  app.get<{ Querystring: { request?: unknown } }>('/consent', async (request, reply) => {
    const id = requestIdIn(request.query.request)
    const browserSha256 = browserHash(request, id)
    const session = await sessionOf(deps.database, request)
    if (!session) {
      const waits = await asSystem(deps.database, 'identity', tx => isPendingRequest(tx, id, browserSha256))
      return waits ? await reply.redirect(`/sign-in?request=${id}`, 303) : sendForbidden(request, reply, 'not waiting')
    }
    const key = { id, browserSha256, userId: session.userId }
    const bound = await asSystem(deps.database, 'identity', tx => bindRequest(tx, key))
    if (!bound) return sendForbidden(request, reply, 'unknown, over, or not of this browser and user')
    return await show(deps, request, reply, { bound, session })
  })

  app.post('/consent', async (request, reply) => await answer(deps, request, reply))

  // Drawn here and never fetched: what a client says its logo is, is not shown.
  for (const initial of new Set(KNOWN_CLIENTS.map(client => client.initial))) {
    app.get(`/assets/clients/${initial}.svg`, async (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=3600').send(badge(initial)),
    )
  }
}

const badge = (initial: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48" viewBox="0 0 48 48"><rect width="48" height="48" rx="10" fill="#0b57b0"/><text x="24" y="33" font-family="sans-serif" font-size="26" font-weight="700" fill="#fff" text-anchor="middle">${initial}</text></svg>`

async function show(
  deps: OAuthDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { bound, session, fault }: { bound: AuthorizationRequest; session: Session; fault?: string },
): Promise<FastifyReply> {
  const memberships = await asSystem(deps.database, 'identity', tx => membershipsOf(tx, session.userId))
  allowFormTargets(reply, [targetOf(bound.redirectUri)])
  const csrf = csrfToken(request, reply)
  const view = {
    request: bound,
    username: session.username,
    memberships,
    csrf,
    ...(fault === undefined ? {} : { fault }),
  }
  return reply.type(HTML).send(consentPage(view))
}

/**
 * What `form-action` must name for the redirect after the form to be followed. Its grammar has no IPv6 addresses, so browsers
 * would ignore `http://[::1]:1234` and stop at the form: of those only the scheme can be named.
 */
function targetOf(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.origin === 'null' || url.hostname.startsWith('[') ? url.protocol : url.origin
}

type ConsentForm = {
  readonly request?: unknown
  readonly decision?: unknown
  readonly platforms?: unknown
  readonly access?: unknown
}

async function answer(deps: OAuthDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const form: ConsentForm = typeof request.body === 'object' && request.body !== null ? request.body : {}
  const id = requestIdIn(form.request)
  const session = await sessionOf(deps.database, request)
  const key = { id, browserSha256: browserHash(request, id), userId: session?.userId ?? '' }
  if (!hasValidCsrfToken(request, deps.identityUrl)) return sendForbidden(request, reply, 'the form is not ours')
  if (!session) return sendForbidden(request, reply, 'nobody is signed in')
  if (form.decision === 'deny') return await deny(deps, request, reply, key)
  if (form.decision !== 'approve') return sendForbidden(request, reply, 'neither approved nor denied')
  return await approve(deps, request, reply, {
    key,
    session,
    choices: textsOf(form.platforms),
    readOnly: form.access === READ_ONLY,
  })
}

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(each => String(each))

type Key = { readonly id: string; readonly browserSha256: string; readonly userId: string }

async function deny(deps: OAuthDeps, request: FastifyRequest, reply: FastifyReply, key: Key): Promise<FastifyReply> {
  const denied = await asSystem(deps.database, 'identity', tx => answerRequest(tx, key, 'DENIED'))
  if (!denied) return sendForbidden(request, reply, 'unknown, over, or not of this browser and user')
  clearRequestCookie(reply, key.id)
  const { redirectUri, state } = denied
  return reply.redirect(
    authorizationResponseUrl(redirectUri, { error: 'access_denied', state, iss: deps.identityUrl }),
    303,
  )
}

async function approve(
  deps: OAuthDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { key, session, choices, readOnly }: { key: Key; session: Session; choices: readonly string[]; readOnly: boolean },
): Promise<FastifyReply> {
  if (choices.length === 0) {
    const bound = await asSystem(deps.database, 'identity', tx => bindRequest(tx, key))
    if (!bound) return sendForbidden(request, reply, 'unknown, over, or not of this browser and user')
    return await show(deps, request, reply.status(400), { bound, session, fault: 'Choose at least one platform.' })
  }
  const code = newSecretToken()
  const approved = await asSystem(deps.database, 'identity', async tx => {
    const platforms = chosenPlatforms(await membershipsOf(tx, session.userId), choices)
    if (platforms === null) return null
    const answered = await answerRequest(tx, key, 'APPROVED')
    if (!answered) return null
    const grant = {
      // The user may give less than was requested; the token answer says what they gave.
      request: readOnly ? { ...answered, scopes: ['service:read' as const] } : answered,
      userId: session.userId,
      platforms,
      codeSha256: code.sha256,
      requestId: request.id,
    }
    await insertGrant(tx, grant)
    return answered
  })
  if (!approved)
    return sendForbidden(request, reply, 'unknown, over, not of this browser and user, or not their platform')
  clearRequestCookie(reply, key.id)
  const { redirectUri, state } = approved
  return reply.redirect(authorizationResponseUrl(redirectUri, { code: code.text, state, iss: deps.identityUrl }), 303)
}
