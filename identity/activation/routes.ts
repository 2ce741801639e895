// Becoming a user by invitation: a new person chooses a password behind the link in the mail, one with an account accepts it
// when signed in.
import { sql } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { type Html, html } from '../pages/html.ts'
import { choosePasswordRoutes } from '../password/choose-password-routes.ts'
import { sessionOf } from '../sessions/browser.ts'
import { acceptInvitation, formatInvitationKey, type PendingInvitation, parseInvitationKey } from './invitations.ts'

export function activationRoutes(app: FastifyInstance, deps: OAuthDeps): void {
  choosePasswordRoutes(app, deps, {
    purpose: 'ACTIVATION',
    texts: {
      title: 'Welcome to Millrace',
      lead: 'Choose a password, and your account is ready.',
      action: '/activate',
      button: 'Accept the invitation',
    },
    operation: '/v1/oauth/activate-user',
    answer: link => readUser(deps, link.userId),
    also: async (tx, { userId, invitation }, requestId) => {
      if (invitation) await acceptInvitation(tx, { key: invitation, userId, requestId })
    },
  })

  const Form = Type.Object({ invitation: Type.String({ maxLength: 100 }) })
  app.post<{ Body: { invitation: string } }>(
    '/invitations/accept',
    { schema: { body: Form } },
    async (request, reply) => {
      if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
      const session = await sessionOf(deps.database, request)
      if (!session) return await reply.redirect('/sign-in', 303)
      const key = parseInvitationKey(request.body.invitation)
      const accepted =
        key !== null &&
        (await asSystem(deps.database, 'identity', tx =>
          acceptInvitation(tx, { key, userId: session.userId, requestId: request.id }),
        ))
      if (!accepted) throw new AppError('RESOURCE_NOT_FOUND', 'You have no such invitation, or it was withdrawn.')
      return await reply.redirect('/', 303)
    },
  )
}

type UserRow = { id: string; username: string; status: string; created_at: string }

/** The user as the interface shows one (reference shapes: User). */
async function readUser(deps: OAuthDeps, id: string): Promise<object> {
  const { rows } = await asSystem(deps.database, 'identity', tx =>
    tx.execute<UserRow>(sql`
      select id, username, status, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at
      from users where id = ${id}`),
  )
  const [row] = rows
  return { object_type: 'USER', ...row, active: row?.status === 'ACTIVE' }
}

/** The invitations that wait for a signed-in person, for the page of their account. */
export const invitationList = (pending: readonly PendingInvitation[], csrf: string): Html =>
  html`${pending.map(
    ({ key, platformName }) => html`<form method="post" action="/invitations/accept" class="note">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="invitation" value="${formatInvitationKey(key)}">
<p>You are invited to <strong>${platformName}</strong> (${key.environment}).</p>
<button>Accept</button>
</form>`,
  )}`
