// How often one address may ask. In memory, per process: a bound on guessing and flooding, not an account.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../../shared/http/network-of.ts'

export type RateLimit = {
  /** Counts one; when there were too many, the seconds to wait. */
  take(key: string): Promise<number | null>
  /** Whether there were too many already, counting none. */
  blocked(key: string): Promise<number | null>
  /** Takes back one that was counted before it was known to be a good one. */
  giveBack(key: string): Promise<void>
}

/** At most `points` in any window of `seconds`, for each key. */
export function createRateLimit(points: number, seconds: number): RateLimit {
  const limiter = new RateLimiterMemory({ points, duration: seconds })
  return {
    take: async key => {
      try {
        await limiter.consume(key)
        return null
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return waitOf(refusal)
        throw refusal
      }
    },
    blocked: async key => {
      const state = await limiter.get(key)
      return state !== null && state.consumedPoints >= points ? waitOf(state) : null
    },
    giveBack: async key => {
      await limiter.reward(key)
    },
  }
}

const waitOf = (state: RateLimiterRes): number => Math.max(1, Math.ceil(state.msBeforeNext / 1000))

/** The limits of the OAuth endpoints and of sign-in, by address (security 1.2, item 10; section 3). */
export type RateLimits = {
  readonly register: RateLimit
  readonly authorize: RateLimit
  /** Documents of clients that were read for an address. */
  readonly documentRead: RateLimit
  /** Every token call of an address. */
  readonly token: RateLimit
  /** Those that were refused: what a guesser makes. */
  readonly tokenRefused: RateLimit
  /** Passwords that were wrong. */
  readonly passwordRefused: RateLimit
  /** Requests for a mail with a link; anyone who knows an e-mail can send one. */
  readonly mailAsked: RateLimit
  /** Uses of such a link. */
  readonly linkUsed: RateLimit
}

const HOUR = 3_600
const QUARTER = 900

/** The limits as they are in production. */
export const createRateLimits = (): RateLimits => ({
  register: createRateLimit(20, HOUR),
  authorize: createRateLimit(100, QUARTER),
  documentRead: createRateLimit(30, HOUR),
  token: createRateLimit(1_000, QUARTER),
  tokenRefused: createRateLimit(50, QUARTER),
  passwordRefused: createRateLimit(50, QUARTER),
  mailAsked: createRateLimit(20, HOUR),
  linkUsed: createRateLimit(50, QUARTER),
})

/** Answers 429 with the wait, in the form of the OAuth endpoints; true when it did. */
export async function sendTooManyRequests(reply: FastifyReply, wait: number | null): Promise<boolean> {
  if (wait === null) return false
  await reply
    .status(429)
    .header('retry-after', String(wait))
    .send({ error: 'temporarily_unavailable', error_description: `Too many requests; try again in ${wait} seconds.` })
  return true
}

/** The key under which the requests of an address are counted together. */
export const rateLimitKeyOf = (request: FastifyRequest): string => networkOf(request.ip)
