// What follows the right password, wherever it was given.
import type { FastifyReply } from 'fastify'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { rememberSession } from '../sessions/browser.ts'
import { startSession } from '../sessions/session-store.ts'

/** Signs the user in and leads on: to the authorization request that waits, or home. */
export async function afterPassword(
  deps: IdentityDeps,
  reply: FastifyReply,
  user: { readonly userId: string; readonly waiting: string | null },
): Promise<FastifyReply> {
  const token = await asSystem(deps.database, 'identity', tx => startSession(tx, user.userId))
  rememberSession(reply, token)
  return await reply.redirect(user.waiting === null ? '/' : `/consent?request=${user.waiting}`, 303)
}
