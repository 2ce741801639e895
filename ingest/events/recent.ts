// The references accepted lately, with their content, in a fixed piece of memory. Only a saving: what it forgets goes to the
// log again and is recognised there.
import { type EventKey, isKeyAt, KEY_WORDS, spreadOf } from './event-key.ts'

export type RecentEvents = {
  /** Whether this very event, with this content, was accepted lately. */
  has(key: EventKey): boolean
  remember(key: EventKey): void
}

const WAYS = 8

/**
 * A set-associative table: an event belongs to one set of eight places, and the oldest of its set makes room for it. The
 * first words of a set lie side by side, so that an event that is new, as most are, costs one line of memory to see it.
 * Equality is of all 192 bits, so an event is never taken for another.
 */
export function createRecentEvents(capacity: number): RecentEvents {
  if (capacity < WAYS) return { has: () => false, remember: () => {} }
  const sets = 2 ** Math.floor(Math.log2(capacity / WAYS))
  const firsts = new Int32Array(sets * WAYS)
  const table = new Int32Array(sets * WAYS * KEY_WORDS)
  const next = new Uint8Array(sets)
  return {
    has: key => {
      const first = (spreadOf(key) & (sets - 1)) * WAYS
      for (let place = first; place < first + WAYS; place += 1) {
        if (firsts[place] === key[0] && isKeyAt(table, place * KEY_WORDS, key)) return true
      }
      return false
    },
    remember: key => {
      const set = spreadOf(key) & (sets - 1)
      const way = next[set] ?? 0
      next[set] = (way + 1) % WAYS
      const place = set * WAYS + way
      firsts[place] = key[0] ?? 0
      table.set(key, place * KEY_WORDS)
    },
  }
}
