// Token buckets: each fills at a rate up to its burst, and a call takes a token or is refused. Pure but for the clock it is given.
// Kept libraries (@fastify/rate-limit, rate-limiter-flexible) count fixed windows, which let twice the limit through at their edges,
// or keep a timer for each caller; so these few lines are our own.

/** Calls a second in the long run, and how many at once. */
export type BucketSize = { readonly perSecond: number; readonly burst: number }

export type Taken = {
  readonly passed: boolean
  readonly burst: number
  /** Whole tokens left. */
  readonly remaining: number
  /** Whole seconds until the bucket is full. */
  readonly resetSeconds: number
  /** Whole seconds until there is a token; 0 when there is one. */
  readonly retryAfterSeconds: number
}

export type TokenBuckets = {
  /** Takes a token of the bucket of this name. */
  take(name: string, size: BucketSize): Taken
  /** How many buckets are kept. */
  count(): number
}

type Bucket = { tokens: number; at: number }

/**
 * `nowMs` is monotonic. At most `max` buckets are kept: the one that was used longest ago is forgotten for a new one, and would
 * start full again.
 */
export function createTokenBuckets({ nowMs, max }: { nowMs: () => number; max: number }): TokenBuckets {
  // In the order of their use.
  const buckets = new Map<string, Bucket>()

  const open = (name: string, now: number, { burst }: BucketSize): Bucket => {
    const known = buckets.get(name)
    if (known) buckets.delete(name)
    else if (buckets.size >= max) {
      for (const oldest of buckets.keys()) {
        buckets.delete(oldest)
        break
      }
    }
    const bucket = known ?? { tokens: burst, at: now }
    buckets.set(name, bucket)
    return bucket
  }

  return {
    take: (name, size) => {
      const { perSecond, burst } = size
      const now = nowMs()
      const bucket = open(name, now, size)
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1_000)
      bucket.at = now
      const passed = bucket.tokens >= 1
      if (passed) bucket.tokens -= 1
      return {
        passed,
        burst,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
        retryAfterSeconds: bucket.tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      }
    },
    count: () => buckets.size,
  }
}
