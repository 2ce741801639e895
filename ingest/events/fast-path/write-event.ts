// One event to its line in the log and its view in the answer, from bytes to bytes. It writes what encode.ts does, byte for
// byte; a test holds the two together.
import { hashContent } from '../../../shared/contracts/content-hash.ts'
import type { Lines } from '../lines.ts'
import { CONTENT_WORD, type EventKeys } from '../repeats/event-key.ts'
import { AsciiText, copyBytes, type Input, type Output, putText } from './bytes.ts'
import { CUSTOMER, ID_HASH, REFERENCE, type Template } from './shape.ts'
import type { Slots } from './slots.ts'
import type { TenantBytes } from './tenant-bytes.ts'
import { WIRE_TIME_LENGTH } from './times.ts'

const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const text = byte.toString(16).padStart(2, '0')
  return text.charCodeAt(0) | (text.charCodeAt(1) << 8)
})

const HEAD = new AsciiText('["00000000000000000000000000000000","0000000000000000",')
const ID_AT = 2
const CONTENT_AT = 37

/**
 * Writes the line behind those of `lines`, where there must be room, and the key of the event. The slot ID_HASH must lie
 * where its text may be written. Returns where the line ends.
 */
export function putLine(
  { input, slots, line }: { input: Input; slots: Slots; line: Template },
  tenant: TenantBytes,
  receivedAt: AsciiText,
  lines: Lines,
): number {
  const { starts, lengths } = slots
  const { output, keys, length: start } = lines
  const key = lines.keyOf(lines.count)
  const to = output.view
  const digest = tenant.references.digest(input.view, starts[REFERENCE] ?? 0, lengths[REFERENCE] ?? 0)
  const idAt = starts[ID_HASH] ?? 0
  putIdHash(digest, input.view, idAt, keys, key)
  putText(HEAD, to, start)
  copyBytes(input.view, idAt, 32, to, start + ID_AT)
  const content = start + HEAD.length
  const reference = putText(tenant.line, to, content)
  const end = putTemplate(line, input.view, slots, output, reference)
  const hashed = key + CONTENT_WORD
  hashContent(to, content, end - content, keys, hashed)
  putWord(keys[hashed] ?? 0, to, start + CONTENT_AT)
  putWord(keys[hashed + 1] ?? 0, to, start + CONTENT_AT + 8)
  // Behind the first three slots and the pieces after them.
  const { pieces } = line
  const customer = reference + (lengths[REFERENCE] ?? 0) + (pieces[0]?.length ?? 0)
  const time = customer + (lengths[CUSTOMER] ?? 0) + (pieces[1]?.length ?? 0)
  putReceived(receivedAt, to, time + WIRE_TIME_LENGTH + SEPARATOR_LENGTH)
  return end
}

const SEPARATOR_LENGTH = 3

/** Writes a time of WIRE_TIME_LENGTH without touching what follows: eight bytes, and the last eight. */
function putReceived(time: AsciiText, to: DataView, at: number): void {
  to.setFloat64(at, time.view.getFloat64(0, true), true)
  to.setFloat64(at + WIRE_TIME_LENGTH - 8, time.view.getFloat64(WIRE_TIME_LENGTH - 8, true), true)
}

/** Writes pieces and slots in turn at `start`, where there must be room. Returns where they end. */
export function putTemplate(template: Template, from: DataView, slots: Slots, output: Output, start: number): number {
  const { pieces } = template
  const { starts, lengths } = slots
  const to = output.view
  let at = putText(template.first, to, start)
  for (let each = 0; each < pieces.length; each += 1) {
    const slot = template.slots[each] ?? 0
    at = copyBytes(from, starts[slot] ?? 0, lengths[slot] ?? 0, to, at)
    const piece = pieces[each]
    if (piece !== undefined) at = putText(piece, to, at)
  }
  return at
}

/** The first 128 bits of a digest, as hex and as words. */
function putIdHash(digest: string, to: DataView, at: number, keys: EventKeys, key: number): void {
  for (let word = 0; word < 4; word += 1) {
    const from = word * 4
    const bits =
      (digest.charCodeAt(from) << 24) |
      (digest.charCodeAt(from + 1) << 16) |
      (digest.charCodeAt(from + 2) << 8) |
      digest.charCodeAt(from + 3)
    keys[key + word] = bits
    putWord(bits, to, at + word * 8)
  }
}

function putWord(word: number, to: DataView, at: number): void {
  to.setInt32(at, (HEX[word >>> 24] ?? 0) | ((HEX[(word >>> 16) & 255] ?? 0) << 16), true)
  to.setInt32(at + 4, (HEX[(word >>> 8) & 255] ?? 0) | ((HEX[word & 255] ?? 0) << 16), true)
}
