// JSON of many kilobytes as a text of a fifth of its length. PostgreSQL would check and compress what it is given, at several times the
// cost. Brotli's form is fixed, so that every later program reads it.
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

/** Shorter than this, PostgreSQL keeps a text in the row, and compresses nothing. */
const PACKED_FROM = 2_000

const FAST = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
}

/** The same JSON as Base64 of its Brotli form; null where it is too short to gain by it. */
export const packJson = (json: string): string | null =>
  json.length < PACKED_FROM ? null : brotliCompressSync(json, FAST).toString('base64')

/** The JSON that was packed into this text. Throws for any other text. */
export const unpackedJson = (packed: string): string => brotliDecompressSync(Buffer.from(packed, 'base64')).toString()

/** Its value. */
export const unpackJson = (packed: string): unknown => JSON.parse(unpackedJson(packed))
