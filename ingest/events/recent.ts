// The references accepted lately, with their content, in a fixed piece of memory. Only a saving: what it forgets goes to the
// log again and is recognised there.
import { type EventKey, KEY_WORDS, spreadAt } from './event-key.ts'

export type RecentEvents = {
  /**
   * Brings what a look-up of these events will read into the processor's cache, all of it at once: one after the other, each
   * look-up would wait for memory. `keys`: KEY_WORDS an event.
   */
  fetch(keys: Int32Array, events: number): void
  /** Whether this very event, with this content, was accepted lately. */
  has(key: EventKey): boolean
  remember(key: EventKey): void
}

const WAYS = 8
// A set in the table: the first word of each of its events, which of them is the oldest, and then the rest of each.
const NEXT_AT = WAYS
const REST_AT = WAYS + 1
const REST_WORDS = KEY_WORDS - 1
const SET_WORDS = 64

/**
 * A set-associative table: an event belongs to one set of eight places, and the oldest of its set makes room for it. The
 * first words of a set lie side by side, so that an event that is new, as most are, costs one line of memory to see it, and
 * two to remember it. Equality is of all 192 bits, so an event is never taken for another.
 */
export function createRecentEvents(capacity: number): RecentEvents {
  if (capacity < WAYS) return { fetch: () => {}, has: () => false, remember: () => {} }
  const sets = 2 ** Math.floor(Math.log2(capacity / WAYS))
  const table = new Int32Array(sets * SET_WORDS)
  const setOf = (spread: number): number => (spread & (sets - 1)) * SET_WORDS
  let fetched = 0
  return {
    fetch: (keys, events) => {
      // Kept, or the reads would be left out for having no effect.
      let read = fetched
      for (let event = 0; event < events; event += 1) read ^= table[setOf(spreadAt(keys, event))] ?? 0
      fetched = read
    },
    has: key => {
      const set = setOf(spreadAt(key, 0))
      for (let way = 0; way < WAYS; way += 1) {
        if (table[set + way] === key[0] && isRestAt(table, set + REST_AT + way * REST_WORDS, key)) return true
      }
      return false
    },
    remember: key => {
      const set = setOf(spreadAt(key, 0))
      const way = table[set + NEXT_AT] ?? 0
      table[set + NEXT_AT] = (way + 1) % WAYS
      table[set + way] = key[0] ?? 0
      const rest = set + REST_AT + way * REST_WORDS
      for (let word = 1; word < KEY_WORDS; word += 1) table[rest + word - 1] = key[word] ?? 0
    },
  }
}

/** Whether all words of the key but its first stand at `at`. */
function isRestAt(table: Int32Array, at: number, key: EventKey): boolean {
  for (let word = 1; word < KEY_WORDS; word += 1) if (table[at + word - 1] !== key[word]) return false
  return true
}
