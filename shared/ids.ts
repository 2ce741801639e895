// Identifiers: a four-letter prefix that names the type, and 22 base62 characters nobody can guess.
import { randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The most places that a number holds exactly. */
const CHUNK_PLACES = 8
const CHUNK = 62n ** BigInt(CHUNK_PLACES)
const ID = /^[a-z]{4}_[0-9A-Za-z]{22}$/

export type Id<Prefix extends string = string> = `${Prefix}_${string}`

/** Base62 text of `bytes`, left-padded to the width every value of that length fits in. */
export function base62(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const width = Math.ceil((bytes.length * 8) / Math.log2(62))
  let text = ''
  // Several places at once: each division of a big integer costs more than all the small ones of its chunk.
  while (text.length < width) {
    let chunk = Number(value % CHUNK)
    value /= CHUNK
    for (let place = 0; place < CHUNK_PLACES && text.length < width; place += 1) {
      text = `${BASE62[chunk % 62]}${text}`
      chunk = Math.floor(chunk / 62)
    }
  }
  return text
}

/**
 * A new id: 48 bits of time, so that ids made later sort later (under the C collation), and 80 random bits.
 * Ids are unguessable; they are never a secret all the same.
 */
export function newId<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
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

/** The same of one text. */
export const idOf = <Prefix extends string>(_prefix: Prefix, text: string): Id<Prefix> => text as Id<Prefix>

/** Whether `text` has the form of one of our ids; a tenant's `reference` may not, so id-or-reference is never ambiguous. */
export const looksLikeId = (text: string): boolean => ID.test(text)
