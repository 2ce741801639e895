// Seeing and changing one's own second factors. Every change needs a fresh proof and ends the user's other sessions. The
// user gets a mail, and every tenant they belong to a notice.
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { asSystem, type SystemTransaction } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { IdentityDeps } from '../deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { queueNotice } from '../mail/outbox.ts'
import { sessionOf } from '../sessions/browser.ts'
import { endOtherSessionsOf, type Session } from '../sessions/session-store.ts'
import { requireRecentAuthentication, type StepUpTarget } from '../step-up/step-up.ts'
import { beginAuthenticator, confirmAuthenticator, pendingAuthenticator, removeAuthenticator } from './authenticator.ts'
import {
  factorsOf,
  hasSecondFactor,
  passwordSufficesAlone,
  removeOrphanedRecoveryCodes,
  requiresSecondFactor,
} from './factors.ts'
import { type FactorChange, notifyFactorChange } from './notify.ts'
import { authenticatorPage, factorsPage, newPasskeyPage, recoveryCodesPage } from './pages.ts'
import { addPasskey, creationOptions, PASSKEYS_MAX, relyingPartyOf, removePasskey } from './passkeys.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'

const HTML = 'text/html; charset=utf-8'
const SCRIPT = readFileSync(new URL('./passkeys.browser.mjs', import.meta.url), 'utf8')

export function secondFactorRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get('/assets/passkeys.mjs', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=3600').send(SCRIPT),
  )

  app.get('/second-factor', async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const factors = await asSystem(deps.database, 'identity', tx => factorsOf(tx, session.userId))
    const passkeysPossible = relyingPartyOf(deps.identityUrl) !== null
    return await reply.type(HTML).send(factorsPage({ csrf: csrfToken(request, reply), factors, passkeysPossible }))
  })

  app.post('/second-factor/recovery-codes', async (request, reply) => {
    const session = await actor(deps, request, reply, 'second-factor')
    if (!session) return reply
    const codes = await asSystem(deps.database, 'identity', async tx => {
      if (!hasSecondFactor(await factorsOf(tx, session.userId))) return null
      const made = await replaceRecoveryCodes(tx, deps.secret, session.userId)
      await changed(tx, { session, change: 'RECOVERY_CODES_REPLACED', requestId: request.id })
      return made
    })
    if (codes === null) return await reply.redirect('/second-factor', 303)
    return await reply.type(HTML).send(recoveryCodesPage(codes))
  })

  authenticatorRoutes(app, deps)
  passkeyRoutes(app, deps)
}

/** The user of a form of ours who has just shown who they are; null when they were sent to do that first. */
async function actor(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  act: StepUpTarget,
): Promise<Session | null> {
  if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
  return await requireRecentAuthentication(deps, request, reply, act)
}

/** What every change of a factor brings with it: every other session of the user ends. */
async function changed(
  tx: SystemTransaction,
  {
    session,
    change,
    requestId,
  }: { readonly session: Session; readonly change: FactorChange; readonly requestId: string },
): Promise<void> {
  await endOtherSessionsOf(tx, session.userId, session.id)
  await queueNotice(tx, { kind: 'FACTOR_CHANGED', userId: session.userId, data: { change } })
  await notifyFactorChange(tx, { userId: session.userId, change, requestId })
}

/** Shows the new codes when this was the first factor, and otherwise what there is now. */
const answerAdded = (reply: FastifyReply, codes: readonly string[] | null): FastifyReply =>
  codes === null ? reply.redirect('/second-factor', 303) : reply.type(HTML).send(recoveryCodesPage(codes))

/** Recovery codes come with the first factor, so that nobody is without them. */
async function codesForFirst(tx: SystemTransaction, deps: IdentityDeps, userId: string): Promise<string[] | null> {
  const { recoveryCodesLeft } = await factorsOf(tx, userId)
  return recoveryCodesLeft > 0 ? null : await replaceRecoveryCodes(tx, deps.secret, userId)
}

function authenticatorRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  const show = async (request: FastifyRequest, reply: FastifyReply, session: Session, fault?: string) => {
    const user = { id: session.userId, username: session.username }
    const waiting = await asSystem(deps.database, 'identity', tx => pendingAuthenticator(tx, deps.secret, user))
    if (!waiting) return await reply.redirect('/second-factor', 303)
    const view = { csrf: csrfToken(request, reply), ...waiting, ...(fault === undefined ? {} : { fault }) }
    return await reply.type(HTML).send(authenticatorPage(view))
  }

  app.get('/second-factor/authenticator', async (request, reply) => {
    const session = await requireRecentAuthentication(deps, request, reply, 'authenticator')
    return session ? await show(request, reply, session) : reply
  })

  app.post('/second-factor/authenticator', async (request, reply) => {
    const session = await actor(deps, request, reply, 'second-factor')
    if (!session) return reply
    await asSystem(deps.database, 'identity', tx => beginAuthenticator(tx, deps.secret, session.userId))
    return await reply.redirect('/second-factor/authenticator', 303)
  })

  const Form = Type.Object({ code: Type.String({ maxLength: 64 }) })
  app.post<{ Body: { code: string } }>(
    '/second-factor/authenticator/confirm',
    { schema: { body: Form } },
    async (request, reply) => {
      const session = await actor(deps, request, reply, 'authenticator')
      if (!session) return reply
      const { userId } = session
      const outcome = await asSystem(deps.database, 'identity', async tx => {
        if (!(await confirmAuthenticator(tx, deps.secret, { userId, code: request.body.code }))) return 'wrong'
        const codes = await codesForFirst(tx, deps, userId)
        await changed(tx, { session, change: 'AUTHENTICATOR_ADDED', requestId: request.id })
        return codes
      })
      if (outcome !== 'wrong') return answerAdded(reply, outcome)
      const fault =
        'That is not the code of this key. Look at the clock of your device, and type the code it shows now.'
      return await show(request, reply.status(400), session, fault)
    },
  )

  app.post('/second-factor/authenticator/remove', async (request, reply) => {
    const session = await actor(deps, request, reply, 'second-factor')
    if (!session) return reply
    await asSystem(deps.database, 'identity', async tx => {
      await removeAuthenticator(tx, session.userId)
      await refuseShortPassword(tx, session.userId)
      await removeOrphanedRecoveryCodes(tx, session.userId)
      await changed(tx, { session, change: 'AUTHENTICATOR_REMOVED', requestId: request.id })
    })
    return await reply.redirect('/second-factor', 303)
  })
}

function passkeyRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  const party = relyingPartyOf(deps.identityUrl)

  const show = async (request: FastifyRequest, reply: FastifyReply, session: Session, fault?: string) => {
    if (party === null) return await reply.redirect('/second-factor', 303)
    const { id, userId, username } = session
    const options = await asSystem(deps.database, 'identity', async tx => {
      const { passkeys } = await factorsOf(tx, userId)
      return passkeys.length < PASSKEYS_MAX ? await creationOptions(tx, party, { userId, owner: id, username }) : null
    })
    if (options === null) return await reply.redirect('/second-factor', 303)
    const view = { csrf: csrfToken(request, reply), options, ...(fault === undefined ? {} : { fault }) }
    return await reply.type(HTML).send(newPasskeyPage(view))
  }

  app.get('/second-factor/passkeys/new', async (request, reply) => {
    const session = await requireRecentAuthentication(deps, request, reply, 'passkey')
    return session ? await show(request, reply, session) : reply
  })

  const AddForm = Type.Object({ name: Type.String({ maxLength: 60 }), passkey: Type.String({ maxLength: 12_000 }) })
  app.post<{ Body: { name: string; passkey: string } }>(
    '/second-factor/passkeys',
    { schema: { body: AddForm } },
    async (request, reply) => {
      const session = await actor(deps, request, reply, 'passkey')
      if (!session || party === null) return session ? await reply.redirect('/second-factor', 303) : reply
      const { id, userId } = session
      const name = request.body.name.replaceAll(/\p{C}/gu, '').trim() || 'My passkey'
      const outcome = await asSystem(deps.database, 'identity', async tx => {
        if ((await factorsOf(tx, userId)).passkeys.length >= PASSKEYS_MAX) return 'wrong'
        const made = { userId, owner: id, name, credential: request.body.passkey }
        if (!(await addPasskey(tx, party, made))) return 'wrong'
        const codes = await codesForFirst(tx, deps, userId)
        await changed(tx, { session, change: 'PASSKEY_ADDED', requestId: request.id })
        return codes
      })
      if (outcome !== 'wrong') return answerAdded(reply, outcome)
      return await show(request, reply.status(400), session, 'That passkey could not be added. Try again.')
    },
  )

  const RemoveForm = Type.Object({ passkey_id: Type.String({ maxLength: 64 }) })
  app.post<{ Body: { passkey_id: string } }>(
    '/second-factor/passkeys/remove',
    { schema: { body: RemoveForm } },
    async (request, reply) => {
      const session = await actor(deps, request, reply, 'second-factor')
      if (!session) return reply
      const removed = await asSystem(deps.database, 'identity', async tx => {
        if (!(await removePasskey(tx, session.userId, request.body.passkey_id))) return false
        await refuseShortPassword(tx, session.userId)
        await removeOrphanedRecoveryCodes(tx, session.userId)
        await changed(tx, { session, change: 'PASSKEY_REMOVED', requestId: request.id })
        return true
      })
      if (!removed) throw new AppError('RESOURCE_NOT_FOUND', 'You have no such passkey.')
      return await reply.redirect('/second-factor', 303)
    },
  )
}

/** Throws, so that nothing was removed, when only a password would stay that the rule refuses for an account by itself. */
async function refuseShortPassword(tx: SystemTransaction, userId: string): Promise<void> {
  if ((await requiresSecondFactor(tx, userId)) || (await passwordSufficesAlone(tx, userId))) return
  throw new AppError(
    'INVALID_OPERATION',
    'Your password is too short to protect your account by itself. Change it to one of at least 15 characters first, then remove your second factor.',
  )
}
