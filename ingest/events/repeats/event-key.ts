// An event and its content as numbers: 128 bits of id and 64 of content, in six 32-bit words. Sets of these live in typed
// arrays, off the heap: as strings in a Map, the events in flight were what the garbage collector copied most. A key is never
// by itself: it is the words from a place on in an array of many.

export const KEY_WORDS = 6
/** Where the words of the content begin in a key. */
export const CONTENT_WORD = 4
/** Keys side by side. */
export type EventKeys = Int32Array

/** Writes the key of an event at `at`. Both hashes are lower-case hex, of 32 and 16 digits. */
export function putKey(idHash: string, contentHash: string, keys: EventKeys, at: number): void {
  for (let word = 0; word < CONTENT_WORD; word += 1) keys[at + word] = hexWord(idHash, word * 8)
  keys[at + CONTENT_WORD] = hexWord(contentHash, 0)
  keys[at + CONTENT_WORD + 1] = hexWord(contentHash, 8)
}

/** The hash of an id that `putKey` wrote at `at`. */
export const idHashAt = (keys: EventKeys, at: number): string =>
  Array.from(keys.subarray(at, at + CONTENT_WORD), word => (word >>> 0).toString(16).padStart(8, '0')).join('')

// Without a branch: digits are 0x30 to 0x39, letters 0x61 to 0x66. A branch on random digits took five times as long.
function hexWord(text: string, from: number): number {
  let word = 0
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at)
    word = (word << 4) | ((code & 15) + (code >> 6) * 9)
  }
  return word
}

/** Whether two keys are the same, in all their bits. */
export function isSameKey(keys: EventKeys, at: number, others: EventKeys, other: number): boolean {
  return (
    keys[at] === others[other] &&
    keys[at + 1] === others[other + 1] &&
    keys[at + 2] === others[other + 2] &&
    keys[at + 3] === others[other + 3] &&
    keys[at + 4] === others[other + 4] &&
    keys[at + 5] === others[other + 5]
  )
}

/** Whether two keys are of one id, whatever their content. */
export function isSameId(keys: EventKeys, at: number, others: EventKeys, other: number): boolean {
  return (
    keys[at] === others[other] &&
    keys[at + 1] === others[other + 1] &&
    keys[at + 2] === others[other + 2] &&
    keys[at + 3] === others[other + 3]
  )
}

/** Evenly spread bits of a key. The partition comes from the first word, so places in tables come from the last of the id. */
export const spreadOf = (keys: EventKeys, at: number): number => keys[at + 3] ?? 0

/** Six words: quicker by hand than by a call into the typed array. */
export function copyKey(from: EventKeys, start: number, to: EventKeys, at: number): void {
  for (let word = 0; word < KEY_WORDS; word += 1) to[at + word] = from[start + word] ?? 0
}

const FIRST_PLACES = 64
const EMPTY = -1

/** A set of keys that grows: open addressing over the keys in order of arrival. */
export class KeySet {
  /** The keys, in order of arrival; good until one is added. */
  keys: EventKeys = new Int32Array(FIRST_PLACES * KEY_WORDS)
  private places = new Int32Array(FIRST_PLACES * 2).fill(EMPTY)
  size = 0

  has(keys: EventKeys, at: number): boolean {
    return this.places[this.placeOf(keys, at)] !== EMPTY
  }

  /** Adds the key; false when it is in the set already. */
  add(keys: EventKeys, at: number): boolean {
    if ((this.size + 1) * KEY_WORDS > this.keys.length) this.grow()
    const place = this.placeOf(keys, at)
    if (this.places[place] !== EMPTY) return false
    copyKey(keys, at, this.keys, this.size * KEY_WORDS)
    this.places[place] = this.size
    this.size += 1
    return true
  }

  clear(): void {
    this.places.fill(EMPTY)
    this.size = 0
  }

  private placeOf(keys: EventKeys, at: number): number {
    const mask = this.places.length - 1
    let place = spreadOf(keys, at) & mask
    for (;;) {
      const index = this.places[place] ?? EMPTY
      if (index === EMPTY || isSameKey(this.keys, index * KEY_WORDS, keys, at)) return place
      place = (place + 1) & mask
    }
  }

  private grow(): void {
    const { keys } = this
    this.keys = new Int32Array(keys.length * 2)
    this.keys.set(keys)
    this.places = new Int32Array(this.places.length * 2).fill(EMPTY)
    for (let index = 0; index < this.size; index += 1) this.places[this.placeOf(keys, index * KEY_WORDS)] = index
  }
}
