// The identity host as the tests of OAuth use it: as many requests as they like, and what they read of redirects.
import { createRateLimits, type RateLimit } from '../http/rate-limits.ts'
import { type IdentityRig, startIdentity } from './identity-rig.ts'

/** Counts nothing. */
export const UNLIMITED: RateLimit = {
  take: async () => null,
  blocked: async () => null,
  giveBack: async () => undefined,
}

/** Starts it without the limits that many requests of one test would meet. */
export const startOAuthIdentity = (): Promise<IdentityRig> =>
  startIdentity({
    limits: {
      ...createRateLimits(),
      register: UNLIMITED,
      authorize: UNLIMITED,
      token: UNLIMITED,
      tokenRefused: UNLIMITED,
    },
  })

/** The first platform, as the consent form names it. */
export const firstChoice = (rig: IdentityRig, environment = 'LIVE'): string => `${rig.platforms[0].id}:${environment}`

/** What a redirect gives to the client. */
export const paramsOf = (location: unknown): URLSearchParams => new URL(String(location)).searchParams
