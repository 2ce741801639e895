// Acts that matter ask who it is, when that was last shown too long ago: with a second factor where the user has one, with
// the password where not (security section 3: step-up, < 10 minutes). Ending things (signing out, disconnecting) never asks.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IdentityDeps } from '../deps.ts'
import { sessionOf } from '../sessions/browser.ts'
import type { Session } from '../sessions/session-store.ts'

const FRESH_SECONDS = 600

/** Where a person may be led after they have shown it: pages of ours, by name, never an address out of the browser. */
export const STEP_UP_TARGETS = {
  'second-factor': '/second-factor',
  authenticator: '/second-factor/authenticator',
  passkey: '/second-factor/passkeys/new',
  password: '/password',
} as const
export type StepUpTarget = keyof typeof STEP_UP_TARGETS

/** The act of this name, or null. */
export const stepUpTargetNamed = (name: unknown): StepUpTarget | null =>
  typeof name === 'string' && Object.hasOwn(STEP_UP_TARGETS, name) ? (name as StepUpTarget) : null

/** Whether the user of this session has shown who they are a moment ago. */
export const isRecentlyAuthenticated = (session: Session): boolean => session.authenticatedSecondsAgo < FRESH_SECONDS

/**
 * The session of a user who has shown who they are a moment ago. Null when there is none: the browser was then sent to
 * sign in, or to show it and come back to `act`, and the reply is done.
 */
export async function requireRecentAuthentication(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  act: StepUpTarget,
): Promise<Session | null> {
  const session = await sessionOf(deps.database, request)
  if (session !== null && isRecentlyAuthenticated(session)) return session
  await reply.redirect(session === null ? '/sign-in' : `/confirm?act=${act}`, 303)
  return null
}
