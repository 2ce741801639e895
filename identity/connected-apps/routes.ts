// Seeing and ending what one has let in, for the signed-in user alone.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { IdentityDeps } from '../deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { sessionOf } from '../sessions/browser.ts'
import { disconnect, listConnectedApps } from './connected-apps.ts'
import { connectedAppsPage } from './page.ts'

const HTML = 'text/html; charset=utf-8'

export function connectedAppsRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get('/connected-apps', async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const apps = await asSystem(deps.database, 'identity', tx => listConnectedApps(tx, session.userId))
    return await reply.type(HTML).send(connectedAppsPage({ csrf: csrfToken(request, reply), apps }))
  })

  const Form = Type.Object({ grant: Type.String({ maxLength: 64 }) })
  app.post<{ Body: { grant: string } }>(
    '/connected-apps/disconnect',
    { schema: { body: Form } },
    async (request, reply) => {
      if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
      const session = await sessionOf(deps.database, request)
      if (!session) return await reply.redirect('/sign-in', 303)
      const input = { userId: session.userId, grantId: request.body.grant, requestId: request.id }
      const ended = await asSystem(deps.database, 'identity', tx => disconnect(tx, input))
      if (!ended) throw new AppError('RESOURCE_NOT_FOUND', 'You have no such application connected.')
      return await reply.redirect('/connected-apps', 303)
    },
  )
}
