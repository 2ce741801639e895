// Which buckets wait to be recomputed. Only a hint, kept in memory: the marks and the coverage in ClickHouse decide what a
// reader may use, so forgetting a bucket costs time and nothing else.
import { type Bucket, type BucketMark, bucketKey } from '../outcome.ts'

/** Buckets remembered; beyond it they are found again by a scan. About 50 MB. */
const DIRTY_MAX = 200_000

export type DirtyBuckets = {
  touch(marks: readonly BucketMark[], nowMs: number): void
  add(buckets: readonly Bucket[], nowMs: number): void
  /** Removes and returns buckets nobody touched since `beforeMs`, the longest quiet first, at most `max`. */
  takeQuiet(beforeMs: number, max: number): Bucket[]
  count(): number
  /** Says that buckets this memory does not know may wait, as if they had been forgotten. */
  rescan(): void
  /** Whether buckets were forgotten since the last call. */
  takeOverflow(): boolean
}

export function createDirtyBuckets(max: number = DIRTY_MAX): DirtyBuckets {
  // Insertion order is the order of the last touch, because a touch removes and adds again.
  const dirty = new Map<string, { bucket: Bucket; touchedMs: number }>()
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
    touch(marks, nowMs) {
      for (const { bucket } of marks) touchOne(bucket, nowMs)
    },
    add(buckets, nowMs) {
      for (const bucket of buckets) if (!dirty.has(bucketKey(bucket))) touchOne(bucket, nowMs)
    },
    takeQuiet(beforeMs, limit) {
      const quiet: Bucket[] = []
      for (const [key, { bucket, touchedMs }] of dirty) {
        if (touchedMs >= beforeMs || quiet.length >= limit) break
        dirty.delete(key)
        quiet.push(bucket)
      }
      return quiet
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
