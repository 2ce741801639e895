// Sign-in and sign-out. A sign-in that an application's request waits for leads back to that request by its id, never to an
// address out of the browser.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import { pendingInvitations } from '../activation/invitations.ts'
import { invitationList } from '../activation/routes.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken, isSameOrigin } from '../http/csrf.ts'
import { html } from '../pages/html.ts'
import { clearSessionCookie, endBrowserSession, sessionOf } from '../sessions/browser.ts'
import { authenticateByPassword } from './authenticate-by-password.ts'
import { markBrowser } from './known-browser.ts'
import { homePage, signInPage } from './pages.ts'
import { usernameOf } from './sign-in.ts'
import { signInAfterPassword } from './sign-in-after-password.ts'
import { signOutEverywhereRoutes } from './sign-out-everywhere.ts'

const HTML = 'text/html; charset=utf-8'
/** The id of an authorization request, the only place a sign-in may lead back to. */
const REQUEST_ID = /^areq_[0-9A-Za-z]{22}$/
const requestIn = (value: unknown): string | null =>
  typeof value === 'string' && REQUEST_ID.test(value) ? value : null

const SignInForm = Type.Object({
  email: Type.String({ maxLength: 320 }),
  password: Type.String({ maxLength: 1_024 }),
  request: Type.Optional(Type.String({ maxLength: 64 })),
})
type SignInFields = { readonly email: string; readonly password: string; readonly request?: string }

export function signInRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  app.get<{ Querystring: { request?: unknown } }>('/sign-in', async (request, reply) => {
    const csrf = csrfToken(request, reply)
    return await reply.type(HTML).send(signInPage({ csrf, request: requestIn(request.query.request) }))
  })

  app.post<{ Body: SignInFields }>('/sign-in', { schema: { body: SignInForm } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const waiting = requestIn(request.body.request)
    const answer = await authenticateByPassword(deps, request, request.body)
    if ('fault' in answer) {
      if (answer.wait !== undefined) reply.header('retry-after', String(answer.wait))
      const { email } = request.body
      const form = signInPage({ csrf: csrfToken(request, reply), request: waiting, email, fault: answer.fault })
      return await reply
        .status(answer.wait === undefined ? 401 : 429)
        .type(HTML)
        .send(form)
    }
    markBrowser(reply, deps.secret, usernameOf(request.body.email))
    // Whoever was signed in here before no longer is: no session outlives a sign-in.
    await endBrowserSession(deps.database, request)
    return await signInAfterPassword(deps, reply, { userId: answer.userId, waiting })
  })

  app.post('/sign-out', async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    await endBrowserSession(deps.database, request)
    clearSessionCookie(reply)
    return await reply.redirect('/sign-in', 303)
  })

  // The same for a script of our own pages. It has no form token to send, and needs none: only our origin is let in.
  app.post('/v1/oauth/logout', async (request, reply) => {
    if (!isSameOrigin(request, deps.identityUrl)) throw invalidCsrfToken()
    await endBrowserSession(deps.database, request)
    clearSessionCookie(reply)
    return {}
  })

  signOutEverywhereRoutes(app, deps)

  app.get('/', async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const csrf = csrfToken(request, reply)
    const pending = await asSystem(deps.database, 'identity', tx => pendingInvitations(tx, session.userId))
    const links = html`${invitationList(pending, csrf)}
<ul class="ways">
<li><a href="/password">Password <span>Change it, and sign out every other session</span></a></li>
<li><a href="/second-factor">Second factor <span>An authenticator app or passkeys, beside your password</span></a></li>
<li><a href="/connected-apps">Connected applications <span>Apps with access</span></a></li>
<li><a href="/sign-out-everywhere">Sign out everywhere <span>In every browser, and applications if you like</span></a></li>
</ul>
<h2>Go to</h2>
<ul class="ways">
<li><a href="${deps.baseUrl}/console">Console <span>Customers, plans and invoices</span></a></li>
<li><a href="${deps.baseUrl}/docs">Documentation <span>Quick start and guides</span></a></li>
<li><a href="${deps.baseUrl}/v1/docs">API reference <span>Every call and field</span></a></li>
<li><a href="${deps.baseUrl}/v1/docs/api-keys">API keys <span>Made and revoked at /v1/api-keys, with a key of an administrator</span></a></li>
</ul>`
    return await reply.type(HTML).send(homePage({ csrf, username: session.username, links }))
  })
}
