// "Log out everywhere": every session ends, and, if the user says so, what applications may do as well.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import { disconnectAll, listConnectedApps } from '../connected-apps/connected-apps.ts'
import type { IdentityDeps } from '../deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { clearSessionCookie, sessionOf } from '../sessions/browser.ts'
import { endSessionsOf } from '../sessions/session-store.ts'
import { signOutEverywherePage } from './pages.ts'

const HTML = 'text/html; charset=utf-8'
const Form = Type.Object({ apps: Type.Optional(Type.String({ maxLength: 3 })) })

export function signOutEverywhereRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get('/sign-out-everywhere', async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const apps = await asSystem(deps.database, 'identity', tx => listConnectedApps(tx, session.userId))
    const form = { csrf: csrfToken(request, reply), apps: apps.map(({ clientName }) => clientName) }
    return await reply.type(HTML).send(signOutEverywherePage(form))
  })

  app.post<{ Body: { apps?: string } }>('/sign-out-everywhere', { schema: { body: Form } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const session = await sessionOf(deps.database, request)
    if (session) {
      await asSystem(deps.database, 'identity', async tx => {
        await endSessionsOf(tx, session.userId)
        if (request.body.apps === 'all') {
          await disconnectAll(tx, { userId: session.userId, requestId: request.id })
        }
      })
    }
    clearSessionCookie(reply)
    return await reply.redirect('/sign-in', 303)
  })
}
