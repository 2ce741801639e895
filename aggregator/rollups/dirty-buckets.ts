// Which buckets wait to be recomputed. Only a hint, kept in memory: the marks and the coverage in ClickHouse decide what a
// reader may use, so forgetting a bucket costs time and nothing else.
import { type Bucket, bucketKey, byPlace } from '../outcome.ts'

/** Buckets remembered; beyond it they are found again by a scan. About 50 MB. */
const DIRTY_MAX = 200_000
/** Quiet buckets put in order at one time: what becomes quiet meanwhile waits until they are taken. */
const ORDERED_MAX = 50_000
/** Buckets at rest remembered; the one that has rested longest is forgotten first. */
const RESTING_MAX = 10_000

type Dirty = { readonly bucket: Bucket; readonly touchedMs: number }
type Open = { readonly fromMs: number; readonly quietMs: number }

export type DirtyBuckets = {
  touch(buckets: readonly Bucket[], nowMs: number): void
  add(buckets: readonly Bucket[], nowMs: number): void
  /**
   * Removes and returns at most `max` buckets that have had no event for `quietMs` and are not resting. Buckets that start at
   * `open.fromMs` or later must have had none for `open.quietMs`. They come in the order of their rows, since ClickHouse reads neighbours
   * together. If more than `max` are quiet, the next calls return the rest first, and then those that became quiet later.
   */
  takeQuiet(nowMs: number, quietMs: number, max: number, open?: Open): Bucket[]
  /** Leaves a bucket that was just recomputed alone until then, however soon it is touched again. */
  rest(bucket: Bucket, untilMs: number): void
  count(): number
  /** Says that buckets this memory does not know may wait, as if they had been forgotten. */
  rescan(): void
  /** Whether buckets were forgotten since the last call. */
  takeOverflow(): boolean
}

export function createDirtyBuckets(max: number = DIRTY_MAX): DirtyBuckets {
  // Insertion order is the order of the last touch, because a touch removes and adds again.
  const dirty = new Map<string, Dirty>()
  let ordered: Bucket[] = []
  const resting = new Map<string, number>()
  let overflowed = false

  function touchOne(bucket: Bucket, nowMs: number): void {
    const key = bucketKey(bucket)
    dirty.delete(key)
    if (dirty.size >= max) {
      overflowed = true
      return
    }
    dirty.set(key, { bucket, touchedMs: nowMs })
  }

  return {
    touch(buckets, nowMs) {
      for (const bucket of buckets) touchOne(bucket, nowMs)
    },
    add(buckets, nowMs) {
      for (const bucket of buckets) if (!dirty.has(bucketKey(bucket))) touchOne(bucket, nowMs)
    },
    takeQuiet(nowMs, quietMs, limit, open) {
      const isReady = (key: string, { bucket, touchedMs }: Dirty): boolean => {
        const needed = open && bucket.hour * 1000 >= open.fromMs ? open.quietMs : quietMs
        return touchedMs <= nowMs - Math.max(needed, quietMs) && (resting.get(key) ?? 0) <= nowMs
      }
      if (ordered.length === 0) {
        const found: Bucket[] = []
        for (const [key, each] of dirty) {
          if (each.touchedMs > nowMs - quietMs || found.length >= ORDERED_MAX) break
          if (isReady(key, each)) found.push(each.bucket)
        }
        // Taken from its end.
        ordered = found.sort(byPlace).reverse()
      }
      const quiet: Bucket[] = []
      while (quiet.length < limit) {
        const next = ordered.pop()
        if (!next) break
        const key = bucketKey(next)
        const current = dirty.get(key)
        // It may have been touched since.
        if (!current || !isReady(key, current)) continue
        dirty.delete(key)
        quiet.push(next)
      }
      return quiet
    },
    rest(bucket, untilMs) {
      const key = bucketKey(bucket)
      resting.delete(key)
      resting.set(key, untilMs)
      for (const [oldest] of resting) {
        if (resting.size <= RESTING_MAX) break
        resting.delete(oldest)
      }
    },
    count: () => dirty.size,
    rescan() {
      overflowed = true
    },
    takeOverflow() {
      const before = overflowed
      overflowed = false
      return before
    },
  }
}
