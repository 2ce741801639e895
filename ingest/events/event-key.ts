// An event and its content as numbers: 128 bits of id and 64 of content, in six 32-bit words. Sets of these live in typed
// arrays, off the heap: as strings in a Map, the events in flight were what the garbage collector copied most.

export const KEY_WORDS = 6
export type EventKey = Int32Array

/** Reads the words of an event into `key` and returns it. Both hashes are lower-case hex, of 32 and 16 digits. */
export function readKey(idHash: string, contentHash: string, key: EventKey): EventKey {
  for (let word = 0; word < 4; word += 1) key[word] = hexWord(idHash, word * 8)
  key[4] = hexWord(contentHash, 0)
  key[5] = hexWord(contentHash, 8)
  return key
}

// Without a branch: digits are 0x30 to 0x39, letters 0x61 to 0x66. A branch on random digits took five times as long.
function hexWord(text: string, from: number): number {
  let word = 0
  for (let at = from; at < from + 8; at += 1) {
    const code = text.charCodeAt(at)
    word = (word << 4) | ((code & 15) + (code >> 6) * 9)
  }
  return word
}

/** Whether the key that starts at `at` in `table` is `key`, in all its bits. */
function isKeyAt(table: Int32Array, at: number, key: EventKey): boolean {
  return (
    table[at] === key[0] &&
    table[at + 1] === key[1] &&
    table[at + 2] === key[2] &&
    table[at + 3] === key[3] &&
    table[at + 4] === key[4] &&
    table[at + 5] === key[5]
  )
}

/** Evenly spread bits of the key at `index` among keys. The partition comes from the first word, so places in tables come from the last of the id. */
export const spreadAt = (keys: Int32Array, index: number): number => keys[index * KEY_WORDS + 3] ?? 0

const FIRST_PLACES = 64
const EMPTY = -1

// Six words: quicker by hand than by a call into the typed array.
function copyWords(from: Int32Array, start: number, to: Int32Array, at: number): void {
  for (let word = 0; word < KEY_WORDS; word += 1) to[at + word] = from[start + word] ?? 0
}

/** A set of keys that grows: open addressing over the keys in order of arrival. */
export class KeySet {
  private keys = new Int32Array(FIRST_PLACES * KEY_WORDS)
  private places = new Int32Array(FIRST_PLACES * 2).fill(EMPTY)
  private readonly visited: EventKey = new Int32Array(KEY_WORDS)
  size = 0

  has(key: EventKey): boolean {
    return this.places[this.placeOf(key)] !== EMPTY
  }

  /** Adds a key that is not in the set. */
  add(key: EventKey): void {
    if ((this.size + 1) * KEY_WORDS > this.keys.length) this.grow()
    copyWords(key, 0, this.keys, this.size * KEY_WORDS)
    this.places[this.placeOf(key)] = this.size
    this.size += 1
  }

  /** Visits the keys in order of arrival. A key is good until its visit ends. */
  forEach(visit: (key: EventKey) => void): void {
    for (let index = 0; index < this.size; index += 1) {
      copyWords(this.keys, index * KEY_WORDS, this.visited, 0)
      visit(this.visited)
    }
  }

  clear(): void {
    this.places.fill(EMPTY)
    this.size = 0
  }

  private placeOf(key: EventKey): number {
    const mask = this.places.length - 1
    let place = spreadAt(key, 0) & mask
    for (;;) {
      const index = this.places[place] ?? EMPTY
      if (index === EMPTY || isKeyAt(this.keys, index * KEY_WORDS, key)) return place
      place = (place + 1) & mask
    }
  }

  private grow(): void {
    const { keys } = this
    this.keys = new Int32Array(keys.length * 2)
    this.keys.set(keys)
    this.places = new Int32Array(this.places.length * 2).fill(EMPTY)
    for (let index = 0; index < this.size; index += 1) {
      const key = keys.subarray(index * KEY_WORDS, (index + 1) * KEY_WORDS)
      this.places[this.placeOf(key)] = index
    }
  }
}
