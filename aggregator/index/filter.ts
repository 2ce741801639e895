// "Surely not in this segment": a Bloom filter in blocks of one cache line, so that a look-up misses memory once. Keys are
// hashes already, so their own bits are the filter's.

/** Twelve bits a key: fewer than one in a hundred keys that are not there are looked up in vain. */
const BITS_PER_KEY = 12
const WORDS_PER_BLOCK = 16
const BITS_PER_BLOCK = WORDS_PER_BLOCK * 32
const TWO_32 = 2 ** 32

export type Filter = {
  add(keys: Buffer, at: number): void
  has(key: Buffer): boolean
  /** The filter itself, as it is stored. */
  readonly words: Uint32Array
}

/** Words of an empty filter for at most this many keys. */
export const emptyFilter = (keys: number): Uint32Array =>
  new Uint32Array(Math.max(1, Math.ceil((keys * BITS_PER_KEY) / BITS_PER_BLOCK)) * WORDS_PER_BLOCK)

/** A filter over these words. The first four bytes of a key order the segment; the filter uses the twelve after them. */
export function filterOf(words: Uint32Array): Filter {
  const blocks = words.length / WORDS_PER_BLOCK
  const start = (keys: Buffer, at: number): number =>
    Math.floor((keys.readUInt32BE(at + 4) * blocks) / TWO_32) * WORDS_PER_BLOCK
  return {
    words,
    add(keys, at) {
      const block = start(keys, at)
      for (let bits = keys.readUInt32BE(at + 8), probe = 0; probe < 3; probe += 1, bits >>>= 9) set(block, bits)
      for (let bits = keys.readUInt32BE(at + 12), probe = 0; probe < 3; probe += 1, bits >>>= 9) set(block, bits)
    },
    has(key) {
      const block = start(key, 0)
      for (let bits = key.readUInt32BE(8), probe = 0; probe < 3; probe += 1, bits >>>= 9) {
        if (!isSet(block, bits)) return false
      }
      for (let bits = key.readUInt32BE(12), probe = 0; probe < 3; probe += 1, bits >>>= 9) {
        if (!isSet(block, bits)) return false
      }
      return true
    },
  }

  function set(block: number, bits: number): void {
    const word = block + ((bits >>> 5) & 15)
    words[word] = (words[word] ?? 0) | (1 << (bits & 31))
  }
  function isSet(block: number, bits: number): boolean {
    return (((words[block + ((bits >>> 5) & 15)] ?? 0) >>> (bits & 31)) & 1) === 1
  }
}
