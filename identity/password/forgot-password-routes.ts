// "I forgot my password": one answer, in words and in time, whether there is such a user or not. All that happens here is one
// row; whether anybody is behind the e-mail is looked up later, when mails are sent.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { textField, tooManyRequests } from '../http/fields.ts'
import { rateLimitKeyOf } from '../http/rate-limits.ts'
import { queuePasswordReset } from '../mail/outbox.ts'
import { usernameOf } from '../sign-in/sign-in.ts'
import { forgotPasswordPage, MAIL_SENT_PAGE, tooManyRequestsPage } from './pages.ts'

const HTML = 'text/html; charset=utf-8'
const EMAIL_MAX = 320

export function forgotPasswordRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  app.get('/forgot-password', async (request, reply) =>
    reply.type(HTML).send(forgotPasswordPage({ csrf: csrfToken(request, reply) })),
  )

  const Form = Type.Object({ email: Type.String({ maxLength: 1_024 }) })
  app.post<{ Body: { email: string } }>('/forgot-password', { schema: { body: Form } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const wait = await askForMail(deps, request, request.body.email)
    if (wait === null) return await reply.type(HTML).send(MAIL_SENT_PAGE)
    return await reply.status(429).header('retry-after', String(wait)).type(HTML).send(tooManyRequestsPage(wait))
  })

  app.post('/v1/oauth/request-password-reset', async request => {
    const wait = await askForMail(deps, request, textField(request, 'email'))
    if (wait !== null) throw tooManyRequests(wait)
    return {}
  })
}

/** Takes the wish; the seconds to wait when there were too many from this address. */
async function askForMail(deps: OAuthDeps, request: FastifyRequest, email: string): Promise<number | null> {
  const wait = await deps.limits.mailAsked.take(rateLimitKeyOf(request))
  if (wait !== null) return wait
  const username = usernameOf(email)
  if (username.length <= EMAIL_MAX) {
    await asSystem(deps.database, 'identity', tx => queuePasswordReset(tx, username))
  }
  return null
}
