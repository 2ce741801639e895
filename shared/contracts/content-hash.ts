// The hash by which two copies of an event are found to say the same: the first half of MurmurHash3 x86 128, seed 0. It need
// not withstand an attacker, because it only ever compares copies of one reference of one tenant, and the first copy
// counts whatever it says; it is computed for every event, and a cryptographic hash took four times as long.

const C1 = 0x239b961b
const C2 = 0xab0e9789 | 0
const C3 = 0x38b34ae5
const C4 = 0xa1e38b93 | 0
const BLOCK = 16

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/** The 64 bits of the hash of `length` bytes of `view` from `start`, as two words in `out` from `place`. */
export function hashContent(view: DataView, start: number, length: number, out: Int32Array, place: number): void {
  let h1 = 0
  let h2 = 0
  let h3 = 0
  let h4 = 0
  const tail = start + length - (length % BLOCK)
  for (let at = start; at < tail; at += BLOCK) {
    h1 ^= scramble(view.getInt32(at, true), C1, 15, C2)
    h1 = (Math.imul((rotate(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0
    h2 ^= scramble(view.getInt32(at + 4, true), C2, 16, C3)
    h2 = (Math.imul((rotate(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0
    h3 ^= scramble(view.getInt32(at + 8, true), C3, 17, C4)
    h3 = (Math.imul((rotate(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0
    h4 ^= scramble(view.getInt32(at + 12, true), C4, 18, C1)
    h4 = (Math.imul((rotate(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0
  }
  const left = length % BLOCK
  h4 ^= scramble(wordOf(view, tail + 12, left - 12), C4, 18, C1)
  h3 ^= scramble(wordOf(view, tail + 8, left - 8), C3, 17, C4)
  h2 ^= scramble(wordOf(view, tail + 4, left - 4), C2, 16, C3)
  h1 ^= scramble(wordOf(view, tail, left), C1, 15, C2)
  h1 ^= length
  h2 ^= length
  h3 ^= length
  h4 ^= length
  h1 = (h1 + h2 + h3 + h4) | 0
  h2 = finish((h2 + h1) | 0)
  h3 = finish((h3 + h1) | 0)
  h4 = finish((h4 + h1) | 0)
  h1 = (finish(h1) + h2 + h3 + h4) | 0
  out[place] = h1
  out[place + 1] = (h2 + h1) | 0
}

const scramble = (word: number, first: number, bits: number, second: number): number =>
  Math.imul(rotate(Math.imul(word, first), bits), second)

/** The last bytes, at most four of them, as a word; none is 0. */
function wordOf(view: DataView, at: number, bytes: number): number {
  let word = 0
  for (let each = Math.min(4, bytes) - 1; each >= 0; each -= 1) word = (word << 8) | view.getUint8(at + each)
  return word
}

function finish(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

const words = new Int32Array(2)
const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0')

/** The hash of a text in UTF-8, as 16 lower-case hex digits. */
export function hashContentText(text: string): string {
  const bytes = Buffer.from(text)
  hashContent(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, words, 0)
  return hex(words[0] ?? 0) + hex(words[1] ?? 0)
}
