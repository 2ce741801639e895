// What follows the right password, wherever it was given.
import type { FastifyReply } from 'fastify'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { factorsOf, hasSecondFactor } from '../second-factor/factors.ts'
import { setPendingCookie, startPendingSignIn } from '../second-factor/pending-sign-in.ts'
import { setSessionCookie } from '../sessions/browser.ts'
import { startSession } from '../sessions/session-store.ts'
import { redirectAfterSignIn } from './redirect-after-sign-in.ts'

/**
 * Signs the user in and leads on: to the authorization request that waits, or home. A user with a second factor is not
 * signed in by this: they are led to it, and nothing but that step knows of the password.
 */
export async function signInAfterPassword(
  deps: IdentityDeps,
  reply: FastifyReply,
  user: { readonly userId: string; readonly waiting: string | null },
): Promise<FastifyReply> {
  const started = await asSystem(deps.database, 'identity', async tx => {
    const goesOn = hasSecondFactor(await factorsOf(tx, user.userId))
    return { goesOn, token: goesOn ? await startPendingSignIn(tx, user) : await startSession(tx, user.userId) }
  })
  if (started.goesOn) {
    setPendingCookie(reply, started.token)
    return await reply.redirect('/sign-in/second', 303)
  }
  setSessionCookie(reply, started.token)
  return await reply.redirect(redirectAfterSignIn(user.waiting), 303)
}
