// The references accepted lately, with their content, in a fixed piece of memory. Only a saving: what it forgets goes to the
// log again and is recognised there.
import { copyKey, type EventKeys, isSameKey, KEY_WORDS, spreadOf } from './event-key.ts'

export type RecentEvents = {
  /**
   * Brings what a look-up of these events will read into the processor's cache, all of it at once: one after the other, each
   * look-up would wait for memory.
   */
  fetch(keys: EventKeys, events: number): void
  /** Whether this very event, with this content, was accepted lately. */
  has(keys: EventKeys, at: number): boolean
  /** Remembers an event it does not know. */
  remember(keys: EventKeys, at: number): void
}

const WAYS = 2
/** Two events and, unused, what makes a set as long as a line of memory. */
const SET_WORDS = 16

/**
 * A set-associative table: an event belongs to one set of two places, the later event in the first, and what was in the second
 * makes room. A set lies in one line of memory, because each that is touched is waited for: that is most of what the table
 * costs. Sets of more places would forget more evenly, not later. Equality is of all 192 bits, so an event is never taken for another.
 */
export function createRecentEvents(capacity: number): RecentEvents {
  if (capacity < WAYS) return { fetch: () => {}, has: () => false, remember: () => {} }
  const sets = 2 ** Math.floor(Math.log2(capacity / WAYS))
  const table = new Int32Array(sets * SET_WORDS)
  const setOf = (keys: EventKeys, at: number): number => (spreadOf(keys, at) & (sets - 1)) * SET_WORDS
  let fetched = 0
  return {
    fetch: (keys, events) => {
      // Kept, or the reads would be left out for having no effect.
      let read = fetched
      for (let event = 0; event < events; event += 1) read ^= table[setOf(keys, event * KEY_WORDS)] ?? 0
      fetched = read
    },
    has: (keys, at) => {
      const set = setOf(keys, at)
      return isSameKey(table, set, keys, at) || isSameKey(table, set + KEY_WORDS, keys, at)
    },
    remember: (keys, at) => {
      const set = setOf(keys, at)
      copyKey(table, set, table, set + KEY_WORDS)
      copyKey(keys, at, table, set)
    },
  }
}
