// Identifiers: a four-letter prefix that names the type, and 22 base62 characters nobody can guess.
import { randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Digits that one division takes off: what is left of it and 16 bits more stay exact in a number. */
const CHUNK_PLACES = 5
const CHUNK = 62 ** CHUNK_PLACES
const ID = /^[a-z]{4}_[0-9A-Za-z]{22}$/

export type Id<Prefix extends string = string> = `${Prefix}_${string}`

/** Base62 text of `bytes`, left-padded to the width every value of that length fits in. */
export function base62(bytes: Uint8Array): string {
  const words = wordsOf(bytes)
  const width = Math.ceil((bytes.length * 8) / Math.log2(62))
  let text = ''
  for (let first = 0; text.length < width; ) {
    let rest = 0
    for (let place = first; place < words.length; place += 1) {
      const value = rest * 0x10000 + (words[place] ?? 0)
      words[place] = Math.floor(value / CHUNK)
      rest = value % CHUNK
    }
    while (first < words.length && words[first] === 0) first += 1
    for (let place = 0; place < CHUNK_PLACES && text.length < width; place += 1) {
      text = `${BASE62[rest % 62]}${text}`
      rest = Math.floor(rest / 62)
    }
  }
  return text
}

/** The bytes as numbers of 16 bits, the highest first. */
function wordsOf(bytes: Uint8Array): number[] {
  const odd = bytes.length % 2
  const words: number[] = odd === 1 ? [bytes[0] ?? 0] : []
  for (let place = odd; place < bytes.length; place += 2)
    words.push((bytes[place] ?? 0) * 0x100 + (bytes[place + 1] ?? 0))
  return words
}

const ID_BYTES = 16
/** Random bytes of many ids: each call of the system for a few costs more than making the ids. None is used twice. */
let drawn = Buffer.alloc(0)
function randomPart(): Buffer {
  if (drawn.length < ID_BYTES) drawn = randomBytes(ID_BYTES * 256)
  const bytes = drawn.subarray(0, ID_BYTES)
  drawn = drawn.subarray(ID_BYTES)
  return bytes
}

let lastMs = 0
let madeInMs = 0

/**
 * A new id: 48 bits of time, 16 that count the ids of a millisecond, and 64 random bits. So the ids of one process sort in the order
 * in which they were made (under the C collation), also those of rows that are written at once. Ids are unguessable; they are never a
 * secret all the same.
 */
export function newId<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  const ms = Date.now()
  madeInMs = ms === lastMs ? madeInMs + 1 : 0
  lastMs = ms
  const bytes = randomPart()
  bytes.writeUIntBE(ms, 0, 6)
  bytes.writeUInt16BE(madeInMs % 0x10000, 6)
  return `${prefix}_${base62(bytes)}`
}

/**
 * A new id of a user, random in every part. A user may be known to other tenants already, and the time in an id would tell anyone who
 * invites them.
 */
export const newUserId = (): Id<'user'> => `user_${base62(randomBytes(16))}`

/**
 * Texts as ids of this kind, where nothing but their source says so: what a caller sent, or a query in plain SQL gave. One that is of
 * another kind is found nowhere.
 */
export const idsOf = <Prefix extends string>(_prefix: Prefix, texts: Iterable<string>): Id<Prefix>[] =>
  [...texts] as Id<Prefix>[]

/** The same of one text, or of none. */
export const idOf = <Prefix extends string, Text extends string | null>(_prefix: Prefix, text: Text) =>
  text as Id<Prefix> | Extract<Text, null>

/** Whether `text` has the form of one of our ids; a tenant's `reference` may not, so id-or-reference is never ambiguous. */
export const looksLikeId = (text: string): boolean => ID.test(text)
