// The rate limit: one token bucket a platform and environment, counted in events. Never consulted after a publish.
import type { Environment, Tenant } from '../../shared/tenant.ts'

export type RateLimits = {
  /** Takes `events` tokens, or none: then the whole seconds after which the same request would pass, if alone. */
  take(tenant: Tenant, events: number): 0 | number
}

type Bucket = { tokens: number; at: number }

/** Buckets hold one second's worth. `nowMs` is monotonic, so that a clock set back never stops a tenant. */
export function createRateLimits(options: {
  ratePerSecond: Readonly<Record<Environment, number>>
  nowMs: () => number
}): RateLimits {
  const buckets: Record<Environment, Map<string, Bucket>> = { LIVE: new Map(), TEST: new Map() }
  return {
    take: ({ platformId, environment }, events) => {
      const rate = options.ratePerSecond[environment]
      const now = options.nowMs()
      let bucket = buckets[environment].get(platformId)
      if (!bucket) {
        bucket = { tokens: rate, at: now }
        buckets[environment].set(platformId, bucket)
      }
      bucket.tokens = Math.min(rate, bucket.tokens + ((now - bucket.at) * rate) / 1000)
      bucket.at = now
      // A batch larger than a whole second's worth passes on a full bucket and leaves a debt; else it could never pass.
      const needed = Math.min(events, rate)
      if (bucket.tokens >= needed) {
        bucket.tokens -= events
        return 0
      }
      return Math.max(1, Math.ceil((needed - bucket.tokens) / rate))
    },
  }
}
