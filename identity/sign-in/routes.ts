// Sign-in and sign-out. A sign-in that an application's request waits for leads back to that request by its id, never to an
// address out of the browser.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { formToken, isOwnForm, notOurForm } from '../http/form-guard.ts'
import { html } from '../pages/html.ts'
import { forgetSession, sessionOf } from '../sessions/browser.ts'
import { endSession, endSessionsOf } from '../sessions/session-store.ts'
import { afterPassword } from './after-password.ts'
import { homePage, signInPage } from './pages.ts'
import { checkPassword } from './sign-in.ts'

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

export function signInRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get<{ Querystring: { request?: unknown } }>('/sign-in', async (request, reply) => {
    const csrf = formToken(request, reply)
    return await reply.type(HTML).send(signInPage({ csrf, request: requestIn(request.query.request) }))
  })

  app.post<{ Body: { email: string; password: string; request?: string } }>(
    '/sign-in',
    { schema: { body: SignInForm } },
    async (request, reply) => {
      if (!isOwnForm(request, deps.identityUrl)) throw notOurForm()
      const { email, password } = request.body
      const waiting = requestIn(request.body.request)
      const userId = await checkPassword(deps.database, email, password)
      if (userId === null) {
        const fault = 'E-mail and password do not match an account.'
        const csrf = formToken(request, reply)
        return await reply
          .status(401)
          .type(HTML)
          .send(signInPage({ csrf, request: waiting, email, fault }))
      }
      return await afterPassword(deps, reply, { userId, waiting })
    },
  )

  app.post('/sign-out', async (request, reply) => {
    if (!isOwnForm(request, deps.identityUrl)) throw notOurForm()
    const session = await sessionOf(deps.database, request)
    if (session) await asSystem(deps.database, 'identity', tx => endSession(tx, session.id))
    forgetSession(reply)
    return await reply.redirect('/sign-in', 303)
  })

  app.post('/sign-out-everywhere', async (request, reply) => {
    if (!isOwnForm(request, deps.identityUrl)) throw notOurForm()
    const session = await sessionOf(deps.database, request)
    if (session) await asSystem(deps.database, 'identity', tx => endSessionsOf(tx, session.userId))
    forgetSession(reply)
    return await reply.redirect('/sign-in', 303)
  })

  app.get('/', async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const csrf = formToken(request, reply)
    return await reply.type(HTML).send(
      homePage({
        csrf,
        username: session.username,
        links: html`<ul class="ways">
<li><a href="/second-factor">Second factor <span>An authenticator app or passkeys, beside your password</span></a></li>
<li><a href="/connected-apps">Connected applications <span>What you let act for you</span></a></li>
</ul>`,
      }),
    )
  })
}
