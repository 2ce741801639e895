// What was read a moment ago, for calls that ask for it again and may be given something a little old.
import { realTime } from '../test-time.ts'
import type { Clock, Instant } from '../time.ts'

const ENTRIES_MAX = 10_000

/** Gives what `load` gave for the key at most `ms` ago, and loads it otherwise. What fails is not remembered. */
export type ShortMemory<T> = (key: string, load: () => Promise<T>) => Promise<T>

/**
 * Age is measured in real time, since a test clock stands still. Where what is read depends on the time of a test clock, the key has that time. With `refreshMs`, what is older than that is given once more while it is read again, so no caller waits for it.
 */
export function createShortMemory<T>(
  clock: Clock,
  { ms, refreshMs = ms }: { readonly ms: number; readonly refreshMs?: number },
): ShortMemory<T> {
  const now = (): Instant => realTime(clock.now())
  type Entry = { readonly value: Promise<T>; readonly loadedAt: number; isRefreshed: boolean }
  const entries = new Map<string, Entry>()
  const keep = (key: string, value: Promise<T>): Promise<T> => {
    entries.delete(key)
    entries.set(key, { value, loadedAt: now(), isRefreshed: false })
    value.catch(() => {
      if (entries.get(key)?.value === value) entries.delete(key)
    })
    // Entries stand in the order in which they were loaded.
    for (const [oldest, { loadedAt }] of entries) {
      if (loadedAt + ms > now() && entries.size <= ENTRIES_MAX) break
      entries.delete(oldest)
    }
    return value
  }
  return (key, load) => {
    const known = entries.get(key)
    const age = known ? now() - known.loadedAt : ms
    if (!known || age >= ms) return keep(key, load())
    if (age >= refreshMs && !known.isRefreshed) {
      known.isRefreshed = true
      load().then(
        value => keep(key, Promise.resolve(value)),
        () => undefined, // the next call reads it, and hears of it
      )
    }
    return known.value
  }
}
