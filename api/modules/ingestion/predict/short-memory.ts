// What was read a moment ago, for calls that ask for it again: a prediction is an estimate, and may be a second old (semantics 1.4).
import type { Clock } from '../../../../shared/time.ts'

const ENTRIES_MAX = 1_000

/** Gives what `load` gave for the key at most `ms` ago, and loads it otherwise. What fails is not remembered. */
export type ShortMemory<T> = (key: string, load: () => Promise<T>) => Promise<T>

export function createShortMemory<T>(clock: Clock, ms: number): ShortMemory<T> {
  const entries = new Map<string, { readonly value: Promise<T>; readonly until: number }>()
  return (key, load) => {
    const now = clock.now()
    const known = entries.get(key)
    if (known && known.until > now) return known.value
    const value = load()
    entries.delete(key)
    entries.set(key, { value, until: now + ms })
    value.catch(() => {
      if (entries.get(key)?.value === value) entries.delete(key)
    })
    // Entries stand in the order in which they end.
    for (const [oldest, { until }] of entries) {
      if (until > now && entries.size <= ENTRIES_MAX) break
      entries.delete(oldest)
    }
    return value
  }
}
