// Everything about passwords but trying one: forgotten, reset by a link, changed by who is signed in.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import { disconnectAll } from '../connected-apps/connected-apps.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { requiresSecondFactor } from '../second-factor/factors.ts'
import { sessionOf, setSessionCookie } from '../sessions/browser.ts'
import { type Session, startSession } from '../sessions/session-store.ts'
import { authenticateByPassword } from '../sign-in/authenticate-by-password.ts'
import { requireRecentAuthentication } from '../step-up/step-up.ts'
import { choosePasswordRoutes } from './choose-password-routes.ts'
import { forgotPasswordRoutes } from './forgot-password-routes.ts'
import { notifyPasswordChange } from './notify.ts'
import { changePage, PASSWORD_SET_PAGE } from './pages.ts'
import { passwordFault } from './rules.ts'
import { setPassword, storedPassword } from './set-password.ts'

const HTML = 'text/html; charset=utf-8'

export function passwordRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  forgotPasswordRoutes(app, deps)
  choosePasswordRoutes(app, deps, {
    purpose: 'PASSWORD_RESET',
    texts: {
      title: 'Choose a new password',
      lead: 'It signs out every session of yours and disconnects every application.',
      action: '/reset-password',
      button: 'Set the password',
    },
    operation: '/v1/oauth/reset-password',
    answer: async () => 'The password is set.',
    // Who resets a password may have lost the old one to someone else, and an application let in with it would stay.
    also: async (tx, { userId }, requestId) => {
      await disconnectAll(tx, { userId, requestId })
      await notifyPasswordChange(tx, { userId, requestId, appsEnded: true })
    },
  })
  app.get('/password-set', async (_request, reply) => reply.type(HTML).send(PASSWORD_SET_PAGE))

  app.get<{ Querystring: { done?: unknown } }>('/password', async (request, reply) => {
    const session = await changer(deps, request, reply)
    if (!session) return reply
    const form = { csrf: csrfToken(request, reply), username: session.username, done: request.query.done === '1' }
    return await reply.type(HTML).send(changePage(form))
  })

  app.post<{ Body: ChangeFields }>('/password', { schema: { body: ChangeForm } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const session = await changer(deps, request, reply)
    if (!session) return reply
    const refused = await change(deps, request, reply, session)
    if (refused === null) return await reply.redirect('/password?done=1', 303)
    const form = { csrf: csrfToken(request, reply), username: session.username, fault: refused.fault }
    if (refused.wait !== undefined) reply.header('retry-after', String(refused.wait))
    return await reply
      .status(refused.wait === undefined ? 400 : 429)
      .type(HTML)
      .send(changePage(form))
  })
}

/**
 * The session in which a password may be changed, or null when the browser was sent away. A user with a second factor gives it
 * first: a changed password is a fresh proof, and a stolen session with a known password would have all it needs to remove it.
 */
async function changer(deps: OAuthDeps, request: FastifyRequest, reply: FastifyReply): Promise<Session | null> {
  const session = await sessionOf(deps.database, request)
  const asks = session && (await asSystem(deps.database, 'identity', tx => requiresSecondFactor(tx, session.userId)))
  return session && !asks ? session : await requireRecentAuthentication(deps, request, reply, 'password')
}

const ChangeForm = Type.Object({
  password: Type.String({ maxLength: 1_024 }),
  new_password: Type.String({ maxLength: 1_024 }),
  repeated: Type.String({ maxLength: 1_024 }),
  apps: Type.Optional(Type.String({ maxLength: 3 })),
})
type ChangeFields = {
  readonly password: string
  readonly new_password: string
  readonly repeated: string
  readonly apps?: string
}

/** Changes the password of who is signed in; the refusal to show when it cannot be. A stolen session alone is not enough. */
async function change(
  deps: OAuthDeps,
  request: FastifyRequest<{ Body: ChangeFields }>,
  reply: FastifyReply,
  session: Session,
): Promise<{ readonly fault: string; readonly wait?: number } | null> {
  const { password, new_password: chosen, repeated, apps } = request.body
  if (chosen !== repeated) return { fault: 'The two new ones are not the same.' }
  const secondFactor = await asSystem(deps.database, 'identity', tx => requiresSecondFactor(tx, session.userId))
  const fault = passwordFault(chosen, { username: session.username, secondFactor })
  if (fault !== null) return { fault }
  const tried = await authenticateByPassword(deps, request, { email: session.username, password })
  if ('fault' in tried) return tried.wait === undefined ? { fault: 'The password you have now is another one.' } : tried
  const stored = await storedPassword(chosen, session.username)
  const appsEnded = apps === 'all'
  const token = await asSystem(deps.database, 'identity', async tx => {
    await setPassword(tx, session, stored)
    if (appsEnded) await disconnectAll(tx, { userId: session.userId, requestId: request.id })
    await notifyPasswordChange(tx, { userId: session.userId, requestId: request.id, appsEnded })
    return await startSession(tx, session.userId)
  })
  setSessionCookie(reply, token)
  return null
}
