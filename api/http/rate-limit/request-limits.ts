// How often the interface may be called: a token bucket for each credential, and one for each address, so that one caller's searches
// do not slow another's. The buckets are those of this process: several api processes let through as many times as much.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../../shared/errors.ts'
import { atOnce } from '../../../shared/http/at-once.ts'
import { networkOf } from '../../../shared/http/network-of.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { LiveRates } from './live-rates.ts'
import { BURST_SECONDS } from './live-rates.ts'
import { type BucketSize, createTokenBuckets, type Taken } from './token-buckets.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the calls that have limits of their own, by events. */
    limitedByEvents?: true
  }
}

export type RequestLimits = {
  /** Takes a token of the credential, once for each request. Throws RATE_LIMIT_EXCEEDED. */
  takeCredential(request: FastifyRequest, caller: { readonly tenant: Tenant; readonly credentialId: string }): void
  /**
   * Takes a token of the grant for a message to the MCP endpoint, which names no tenant: at the installation's rate, and not those of the
   * calls that it makes. Throws RATE_LIMIT_EXCEEDED.
   */
  takeMessage(request: FastifyRequest, grantId: string): void
  /** Takes a token of the address. Throws RATE_LIMIT_EXCEEDED. */
  takeAddress(request: FastifyRequest): void
  /** What was taken for this request last. */
  takenBy(request: FastifyRequest): Taken | undefined
}

/** Buckets of each kind: some 20 MB at most. */
const BUCKETS_MAX = 100_000

/** `addressPerSecond`: calls from one address; 0 for no limit by address. */
export function createRequestLimits(options: {
  readonly rates: LiveRates
  readonly addressPerSecond: number
  readonly nowMs: () => number
}): RequestLimits {
  const { rates, addressPerSecond, nowMs } = options
  const credentials = createTokenBuckets({ nowMs, max: BUCKETS_MAX })
  const addresses = createTokenBuckets({ nowMs, max: BUCKETS_MAX })
  const ofAddress = { perSecond: addressPerSecond, burst: addressPerSecond * BURST_SECONDS }
  const taken = new WeakMap<FastifyRequest, Taken>()
  const byCredential = new WeakSet<FastifyRequest>()
  const ofCredential = (request: FastifyRequest, name: string, size: BucketSize): void => {
    const found = credentials.take(name, size)
    taken.set(request, found)
    if (!found.passed) throw tooMany('this credential', found)
  }
  return {
    takeCredential: (request, { tenant, credentialId }) => {
      if (byCredential.has(request) || request.routeOptions.config?.limitedByEvents) return
      byCredential.add(request)
      ofCredential(request, `${tenant.environment} ${credentialId} ${tenant.platformId}`, rates.of(tenant))
    },
    takeMessage: (request, grantId) => ofCredential(request, `message ${grantId}`, rates.usual),
    takeAddress: request => {
      if (addressPerSecond === 0) return
      const found = addresses.take(networkOf(request.ip), ofAddress)
      if (found.passed) return
      taken.set(request, found)
      throw tooMany('this address', found)
    },
    takenBy: request => taken.get(request),
  }
}

const tooMany = (by: string, { retryAfterSeconds }: Taken): AppError => {
  // An agent's client gives it the message, and not always the headers.
  const after = retryAfterSeconds === 1 ? '1 second' : `${retryAfterSeconds} seconds`
  const message = `Too many requests by ${by}; nothing was done. Send it again after ${after}.`
  return new AppError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds })
}

const isLimited = (url: string): boolean => url.startsWith('/v1/') || /^\/mcp(\?|$)/.test(url)

/** Holds every call under /v1, and every message to /mcp, to the limits, and says on each answer what is left. Call before any route is declared. */
export function limitRequests(app: FastifyInstance, limits: RequestLimits): void {
  const takeAddress = (request: FastifyRequest): void => {
    const { url, config } = request.routeOptions
    // Of a call that leads somewhere, the path as it is declared: a caller can write it in other ways, such as /%761/customers.
    if (isLimited(url ?? request.url) && !config?.limitedByEvents) limits.takeAddress(request)
  }
  app.addHook('onRequest', atOnce(takeAddress))
  app.addHook('onSend', (request, reply, payload, done) => {
    const taken = limits.takenBy(request)
    if (taken)
      reply.headers({
        'x-ratelimit-limit': taken.burst,
        'x-ratelimit-remaining': taken.remaining,
        'x-ratelimit-reset': taken.resetSeconds,
      })
    done(null, payload)
  })
}
