// A claim as 32 bytes: 16 of the reference's hash, 8 of its content's, 8 of its place. ClickHouse writes the same bytes
// (RowBinary), so a rebuild copies them.
import type { Claim } from '../outcome.ts'

export const RECORD_BYTES = 32
export const KEY_BYTES = 16
const CONTENT_AT = 16
const PLACE_AT = 24
/** The place is `seq * 2^20 + line`, little-endian: a message of 1 MB has fewer than 2^20 lines. */
export const LINES = 2 ** 20
const SEQ_LOW = 2 ** 12
const SEQ_END = 2 ** 44

/** Writes a claim at `at`. Throws RangeError on a place no log has. */
export function writeRecord(buffer: Buffer, at: number, { idHash, contentHash, seq, line }: Claim): void {
  if (!(seq >= 0 && seq < SEQ_END && line >= 0 && line < LINES)) throw new RangeError(`no place: ${seq}/${line}`)
  buffer.write(idHash, at, KEY_BYTES, 'hex')
  buffer.write(contentHash, at + CONTENT_AT, PLACE_AT - CONTENT_AT, 'hex')
  buffer.writeUInt32LE((seq % SEQ_LOW) * LINES + line, at + PLACE_AT)
  buffer.writeUInt32LE(Math.floor(seq / SEQ_LOW), at + PLACE_AT + 4)
}

export function readRecord(buffer: Buffer, at: number, idHash: string): Claim {
  const low = buffer.readUInt32LE(at + PLACE_AT)
  const seq = buffer.readUInt32LE(at + PLACE_AT + 4) * SEQ_LOW + Math.floor(low / LINES)
  return { idHash, contentHash: buffer.toString('hex', at + CONTENT_AT, at + PLACE_AT), seq, line: low % LINES }
}

/** Which of two records comes first, by key: below 0, 0 when they have the same, above 0. */
export const compareKeys = (a: Buffer, atA: number, b: Buffer, atB: number): number =>
  a.readUInt32BE(atA) - b.readUInt32BE(atB) || a.compare(b, atB, atB + KEY_BYTES, atA, atA + KEY_BYTES)

/** Claims as records, sorted by key. */
export function sortedRecords(claims: Iterable<Claim>, count: number): Buffer {
  const unsorted = Buffer.allocUnsafe(count * RECORD_BYTES)
  const order: number[] = []
  let at = 0
  for (const claim of claims) {
    writeRecord(unsorted, at, claim)
    order.push(at)
    at += RECORD_BYTES
  }
  order.sort((a, b) => compareKeys(unsorted, a, unsorted, b))
  const sorted = Buffer.allocUnsafe(at)
  for (const [place, from] of order.entries()) unsorted.copy(sorted, place * RECORD_BYTES, from, from + RECORD_BYTES)
  return sorted
}
