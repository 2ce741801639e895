// The rate limit: one token bucket a platform and environment, counted in events, filled with this gateway's share of the
// platform's limit (contract: Limits). Never consulted after a publish, and never waits for anything.
import type { Environment, Tenant } from '../../shared/tenant.ts'
import type { LiveLimits } from './live-limits.ts'
import { type Demands, INTERVAL_MS, type ShareBook, WINDOW } from './share-book.ts'

export type RateLimits = {
  /** Takes `events` tokens, or none: then the whole seconds after which the same request would pass, if alone. */
  take(tenant: Tenant, events: number): 0 | number
  /** The demand since the last call, passed and refused alike, in events a second by `tenantKey`. */
  measure(): Demands
}

/** `share` and `limit` in events a second; `asked` in events since the last measurement. */
type Bucket = {
  readonly tenant: Tenant
  readonly key: string
  tokens: number
  at: number
  limit: number
  share: number
  shareVersion: number
  limitVersion: number
  asked: number
  demand: number
}

/** The name of a tenant in the news between gateways. */
export const tenantKey = ({ platformId, environment }: Tenant): string => `${platformId}/${environment}`

/** How much of a demand is kept an interval: those who send in bursts keep their share between two of them. */
const DEMAND_KEPT = 0.25
/** A demand below this part of the limit is not worth telling: the even part of every share covers it. */
const DEMAND_TOLD = 0.001
/** Tenants in one report, those that ask for most of their limit first; bounds the message. */
const REPORTED_MAX = 5_000
/** How long until a share has grown by a demand that is new (share-book.ts). */
const GROWTH_MS = (WINDOW + 1) * INTERVAL_MS

/**
 * Buckets hold one second's worth of the share. `nowMs` is monotonic, so that a clock set back never stops a tenant.
 * `emptyAt`: a gateway that joined others at that time starts with empty buckets, since a full second is theirs already.
 */
export function createRateLimits(options: {
  limits: Pick<LiveLimits, 'of' | 'version'>
  shares: ShareBook
  nowMs: () => number
  emptyAt?: () => number | null
}): RateLimits {
  const { limits, shares } = options
  const buckets: Record<Environment, Map<string, Bucket>> = { LIVE: new Map(), TEST: new Map() }
  let measuredAt = options.nowMs()

  const open = (tenant: Tenant, now: number): Bucket => {
    const { platformId, environment } = tenant
    const key = tenantKey(tenant)
    const limit = limits.of(tenant).eventsPerSecond
    const share = shares.shareOf(key, limit)
    const emptyAt = options.emptyAt?.() ?? null
    const tokens = emptyAt === null ? share : Math.min(share, (share * (now - emptyAt)) / 1000)
    const versions = { shareVersion: shares.version(), limitVersion: limits.version() }
    const counts = { asked: 0, demand: 0 }
    const bucket = { tenant: { platformId, environment }, key, tokens, at: now, limit, share, ...versions, ...counts }
    buckets[environment].set(platformId, bucket)
    return bucket
  }

  const refill = (bucket: Bucket, now: number): void => {
    let rate = bucket.share
    if (bucket.shareVersion !== shares.version() || bucket.limitVersion !== limits.version()) {
      bucket.limit = limits.of(bucket.tenant).eventsPerSecond
      bucket.share = shares.shareOf(bucket.key, bucket.limit)
      bucket.shareVersion = shares.version()
      bucket.limitVersion = limits.version()
      // When the share changed since the last look, an interval ago at most, is not known: the lesser is never too much.
      rate = Math.min(rate, bucket.share)
    }
    bucket.tokens = Math.min(bucket.share, bucket.tokens + ((now - bucket.at) * rate) / 1000)
    bucket.at = now
  }

  const retryAfter = ({ tokens, limit, share }: Bucket, events: number): number => {
    // Being refused is demand too, and raises the share to an even part at least if it is below.
    const rate = Math.max(share, limit / shares.gateways())
    const growthMs = share < rate ? GROWTH_MS : 0
    return Math.max(1, Math.ceil((Math.min(events, rate) - tokens) / rate + growthMs / 1000))
  }

  const settle = (bucket: Bucket, now: number, seconds: number): void => {
    refill(bucket, now)
    // More than the limit is as good as the limit, and would only take longer to fade.
    bucket.demand = Math.min(bucket.limit, Math.max(bucket.asked / seconds, bucket.demand * DEMAND_KEPT))
    if (bucket.demand < bucket.limit * DEMAND_TOLD) bucket.demand = 0
    bucket.asked = 0
  }
  /** A bucket that is full again is what a new one would be. */
  const isForgettable = ({ demand, tokens, share }: Bucket): boolean => demand === 0 && tokens >= share

  return {
    take: (tenant, events) => {
      const now = options.nowMs()
      let bucket = buckets[tenant.environment].get(tenant.platformId)
      if (bucket) refill(bucket, now)
      else bucket = open(tenant, now)
      bucket.asked += events
      // A batch larger than a whole second's worth passes on a full bucket and leaves a debt; else it could never pass.
      if (bucket.tokens >= Math.min(events, bucket.share)) {
        bucket.tokens -= events
        return 0
      }
      return retryAfter(bucket, events)
    },
    measure: () => {
      const now = options.nowMs()
      const seconds = Math.max(now - measuredAt, 1) / 1000
      measuredAt = now
      const reported: Bucket[] = []
      for (const byPlatform of [buckets.LIVE, buckets.TEST]) {
        for (const [platformId, bucket] of byPlatform) {
          settle(bucket, now, seconds)
          if (bucket.demand > 0) reported.push(bucket)
          else if (isForgettable(bucket)) byPlatform.delete(platformId)
        }
      }
      if (reported.length > REPORTED_MAX)
        reported.sort((a, b) => b.demand / b.limit - a.demand / a.limit).splice(REPORTED_MAX)
      return new Map(reported.map(({ key, demand }) => [key, Math.ceil(demand)]))
    },
  }
}
