// The page behind a link from a mail, where a password is chosen, and its JSON twin.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { textField, tooManyRequests } from '../http/fields.ts'
import { rateLimitKeyOf } from '../http/rate-limits.ts'
import type { LinkPurpose, OpenLink } from '../mail/one-time-links.ts'
import { choosePassword, findLink } from './by-link.ts'
import { type ChoosePasswordTexts, choosePasswordPage, NO_LINK_PAGE, tooManyRequestsPage } from './pages.ts'

const HTML = 'text/html; charset=utf-8'

export type ChoosePasswordRoutes = {
  readonly purpose: LinkPurpose
  readonly texts: ChoosePasswordTexts
  /** The JSON twin, and what it answers. */
  readonly operation: string
  readonly answer: (link: OpenLink) => Promise<unknown>
  /** What else happens in the transaction that sets the password. */
  readonly also: (tx: SystemTransaction, link: OpenLink, requestId: string) => Promise<void>
}

const Form = Type.Object({
  token: Type.String({ maxLength: 64 }),
  new_password: Type.String({ maxLength: 1_024 }),
  repeated: Type.String({ maxLength: 1_024 }),
})
type Fields = { readonly token: string; readonly new_password: string; readonly repeated: string }

export function choosePasswordRoutes(app: FastifyInstance, deps: OAuthDeps, routes: ChoosePasswordRoutes): void {
  const { purpose, texts } = routes

  app.get<{ Querystring: { token?: unknown } }>(texts.action, async (request, reply) => {
    const { token } = request.query
    const link = await findLink(deps, token, purpose)
    if (!link) return await reply.status(404).type(HTML).send(NO_LINK_PAGE)
    const form = { csrf: csrfToken(request, reply), token: String(token), username: link.username, texts }
    return await reply.type(HTML).send(choosePasswordPage(form))
  })

  app.post<{ Body: Fields }>(texts.action, { schema: { body: Form } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const wait = await deps.limits.linkUsed.take(rateLimitKeyOf(request))
    if (wait !== null) {
      return await reply.status(429).header('retry-after', String(wait)).type(HTML).send(tooManyRequestsPage(wait))
    }
    const { token, new_password: password, repeated } = request.body
    const again = async (fault: string) => {
      const link = await findLink(deps, token, purpose)
      if (!link) return await reply.status(404).type(HTML).send(NO_LINK_PAGE)
      const form = { csrf: csrfToken(request, reply), token, username: link.username, texts, fault }
      return await reply.status(400).type(HTML).send(choosePasswordPage(form))
    }
    if (password !== repeated) return await again('The two are not the same.')
    const chosen = await choosePassword(deps, { token, password, purpose }, (tx, link) =>
      routes.also(tx, link, request.id),
    )
    if (chosen.kind === 'fault') return await again(chosen.fault)
    if (chosen.kind === 'no-link') return await reply.status(404).type(HTML).send(NO_LINK_PAGE)
    return await reply.redirect('/password-set', 303)
  })

  app.post(routes.operation, async request => {
    const wait = await deps.limits.linkUsed.take(rateLimitKeyOf(request))
    if (wait !== null) throw tooManyRequests(wait)
    const given = { token: textField(request, 'token'), password: textField(request, 'new_password'), purpose }
    const chosen = await choosePassword(deps, given, (tx, link) => routes.also(tx, link, request.id))
    if (chosen.kind === 'fault') throw new AppError('INVALID_FIELD', chosen.fault, { field: 'new_password' })
    if (chosen.kind === 'no-link') {
      throw new AppError(
        'INVALID_FIELD',
        'The token does not work: unknown, used, too old or withdrawn. Ask for a new one.',
        {
          field: 'token',
        },
      )
    }
    return await routes.answer(chosen.link)
  })
}
