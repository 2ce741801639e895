// One try of a password, within the limits: ten a quarter of an hour for an account, ever more slowly, and fifty that
// fail from one address. A limit that is reached answers before anything is looked at, the same for accounts that do not exist.
import type { FastifyRequest } from 'fastify'
import type { OAuthDeps } from '../endpoints/oauth-deps.ts'
import { rateLimitKeyOf } from '../http/rate-limits.ts'
import { countSignInAttempt, removeAttempt } from './attempts.ts'
import { knownBrowser } from './known-browser.ts'
import { checkPassword, usernameOf } from './sign-in.ts'

/** A refusal that is the same for every e-mail; `wait` is in seconds, where a limit was reached. */
export type AuthenticationRefused = { readonly fault: string; readonly wait?: number }

const WRONG = 'E-mail and password do not match an account.'
const tooMany = (wait: number): AuthenticationRefused => ({
  wait,
  fault: `Too many tries. Wait ${wait < 100 ? `${wait} seconds` : `${Math.ceil(wait / 60)} minutes`}, then try again.`,
})

/** The user whose e-mail and password these are, or the refusal to show. */
export async function authenticateByPassword(
  deps: OAuthDeps,
  request: FastifyRequest,
  given: { readonly email: string; readonly password: string },
): Promise<{ readonly userId: string } | AuthenticationRefused> {
  const address = rateLimitKeyOf(request)
  const username = usernameOf(given.email)
  const crowded = await deps.limits.passwordRefused.take(address)
  if (crowded !== null) return tooMany(crowded)
  const browser = knownBrowser(request, deps.secret, username)
  const tried = await countSignInAttempt(deps.database, { username, browser })
  if ('wait' in tried) return tooMany(tried.wait)
  const userId = await checkPassword(deps.database, given.email, given.password).catch(async (error: unknown) => {
    // Nothing was tried after all: the machine was too busy, or the database away.
    await Promise.allSettled([removeAttempt(deps.database, tried), deps.limits.passwordRefused.giveBack(address)])
    throw error
  })
  if (userId === null) return { fault: WRONG }
  await removeAttempt(deps.database, tried)
  await deps.limits.passwordRefused.giveBack(address)
  return { userId }
}
