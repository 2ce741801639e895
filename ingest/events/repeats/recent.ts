// The references accepted lately, with their content, in a fixed piece of memory. Only a saving: what it forgets goes to the
// log again and is recognised there.
import { copyKey, type EventKeys, isSameId, isSameKey, KEY_WORDS, spreadOf } from './event-key.ts'
import { NO_PLACE, type Place } from './place.ts'

export type RecentEvents = {
  /**
   * Brings what a look-up of these events will read into the processor's cache, all of it at once: one after the other, each
   * look-up would wait for memory.
   */
  fetch(keys: EventKeys, events: number): void
  /** Whether this very event, with this content, was accepted lately. */
  has(keys: EventKeys, at: number): boolean
  /**
   * Where in the log the event of this id lies that was remembered, whatever its content; NO_PLACE when none is. That is the event that
   * counts, unless an earlier one was forgotten or came through another gateway.
   */
  placeOf(keys: EventKeys, at: number): Place
  /** Remembers an event of an id it does not know, which lies at `place` in the log. */
  remember(keys: EventKeys, at: number, place: Place): void
}

const WAYS = 2
/** Two events and, behind them, the places of both: together as long as a line of memory. */
const SET_WORDS = 16
const PLACE_WORDS = 2
const FIRST_PLACE = WAYS * KEY_WORDS
const SECOND_PLACE = FIRST_PLACE + PLACE_WORDS
const WORD_VALUES = 2 ** 32

/**
 * A set-associative table: an event belongs to one set of two places, the later event in the first, and what was in the second
 * makes room. A set lies in one line of memory, because each that is touched is waited for: that is most of what the table
 * costs. Sets of more places would forget more evenly, not later. Equality is of all 192 bits, so an event is never taken for another.
 */
export function createRecentEvents(capacity: number): RecentEvents {
  if (capacity < WAYS) return { fetch: () => {}, has: () => false, placeOf: () => NO_PLACE, remember: () => {} }
  const sets = 2 ** Math.floor(Math.log2(capacity / WAYS))
  const table = new Int32Array(sets * SET_WORDS)
  const setOf = (keys: EventKeys, at: number): number => (spreadOf(keys, at) & (sets - 1)) * SET_WORDS
  const placeAt = (word: number): Place => (table[word] ?? 0) * WORD_VALUES + ((table[word + 1] ?? 0) >>> 0)
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
    placeOf: (keys, at) => {
      const set = setOf(keys, at)
      if (isSameId(table, set, keys, at)) return placeAt(set + FIRST_PLACE)
      return isSameId(table, set + KEY_WORDS, keys, at) ? placeAt(set + SECOND_PLACE) : NO_PLACE
    },
    remember: (keys, at, place) => {
      const set = setOf(keys, at)
      // The first of an id is the one to know: a later one with other content does not count.
      if (isSameId(table, set, keys, at) || isSameId(table, set + KEY_WORDS, keys, at)) return
      copyKey(table, set, table, set + KEY_WORDS)
      table[set + SECOND_PLACE] = table[set + FIRST_PLACE] ?? 0
      table[set + SECOND_PLACE + 1] = table[set + FIRST_PLACE + 1] ?? 0
      copyKey(keys, at, table, set)
      table[set + FIRST_PLACE] = place / WORD_VALUES
      table[set + FIRST_PLACE + 1] = place
    },
  }
}
