// One pass over the bytes of a JSON body before it is parsed: JSON.parse itself neither bounds depth nor reports a key that
// is given twice.
import { isAscii } from 'node:buffer'
import { AppError } from '../../shared/errors.ts'

export type JsonScan = {
  /** How many object keys the text holds; when fewer are found after parsing, one was given twice. */
  readonly keys: number
  /** Every string holds only printable ASCII without quotes and backslashes: no text of it needs a check or an escape. */
  readonly plain: boolean
}

/** Deep enough for every shape of the interface; a body of nothing but brackets is refused before it costs anything. */
export const JSON_DEPTH_MAX = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const DELETE = 0x7f
// `[` and `{`, and `]` and `}`, differ in this bit only.
const CURLY_BIT = 0x20
const OPEN = 0x7b
const CLOSE = 0x7d

/** Scans `body`. It need not be JSON: what is not is left to JSON.parse. Throws BAD_REQUEST on nesting beyond the limit. */
export function scanJson(body: Buffer): JsonScan {
  const length = body.length
  let depth = 0
  let keys = 0
  for (let at = 0; at < length; at += 1) {
    const byte = body[at] ?? 0
    if (byte === QUOTE) at = endOfString(body, at + 1)
    else if (byte === COLON) keys += 1
    else if ((byte | CURLY_BIT) === OPEN) {
      depth += 1
      if (depth > JSON_DEPTH_MAX) {
        throw new AppError('BAD_REQUEST', `The body nests deeper than ${JSON_DEPTH_MAX} levels.`)
      }
    } else if ((byte | CURLY_BIT) === CLOSE) depth -= 1
  }
  return { keys, plain: isAscii(body) && !body.includes(BACKSLASH) && !body.includes(DELETE) }
}

/** Where the string that began before `at` ends: its closing quote, or the end of the body. */
function endOfString(body: Buffer, at: number): number {
  const length = body.length
  let end = at
  while (end < length) {
    const byte = body[end]
    if (byte === QUOTE) return end
    end += byte === BACKSLASH ? 2 : 1
  }
  return end
}
