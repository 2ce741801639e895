// Where the lines of a CSV stand in its bytes: found as they come, in memory bounded by the longest line that is accepted.
import { UnreadableFile } from '../unreadable-file.ts'

/** A line of a file with the places, in bytes, where it starts and where the next may start. `bytes` is without its line end. */
export type RawRecord = { readonly start: number; readonly end: number; readonly bytes: Buffer }

/** Longest line. An event of that size would not pass the gateway either. */
export const RECORD_BYTES_MAX = 65_536

const LF = 0x0a
const CR = 0x0d
const QUOTE = 0x22
const COMMA = 0x2c
/** At the start of a field; within one without quotes, or past its quotes; within quotes; at a quote that may end them. */
const START = 0
const PLAIN = 1
const QUOTED = 2
const CLOSING = 3
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Splits bytes at line ends that are not within quotes (RFC 4180; CRLF and LF). Empty lines are none. Only a quote at the start
 * of a field opens one, so a stray quote elsewhere makes its own line malformed and no other.
 */
export class RecordSplitter {
  #held: Buffer = Buffer.alloc(0)
  #heldAt: number
  #scanned = 0
  #state: number = START

  /** `offset`: where the first byte stands in the file; it must be the start of a line. */
  constructor(offset: number) {
    this.#heldAt = offset
  }

  /** The lines that `chunk` completes, in order. Throws UnreadableFile on one that is too long. */
  *push(chunk: Buffer): Generator<RawRecord> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    if (this.#heldAt === 0 && this.#scanned === 0) {
      if (BOM.subarray(0, this.#held.length).equals(this.#held.subarray(0, 3)) && this.#held.length < BOM.length) return
      if (this.#held.subarray(0, 3).equals(BOM)) this.#drop(3)
    }
    let start = 0
    for (let at = this.#scanned; at < this.#held.length; at += 1) {
      const byte = this.#held[at]
      this.#state = next(this.#state, byte)
      if (byte !== LF || this.#state !== START) continue
      const record = this.#record(start, at, at + 1)
      if (record) yield record
      start = at + 1
    }
    this.#drop(start)
    this.#scanned = this.#held.length
    if (this.#held.length > RECORD_BYTES_MAX) throw tooLong(this.#heldAt)
  }

  /** The last line, when the file does not end in a line end. Throws UnreadableFile when a quote is still open. */
  *end(): Generator<RawRecord> {
    if (this.#state === QUOTED)
      throw new UnreadableFile('The file ends within quotes: a quote that is opened is never closed.')
    const record = this.#record(0, this.#held.length, this.#held.length)
    if (record) yield record
    this.#drop(this.#held.length)
  }

  #record(start: number, end: number, after: number): RawRecord | null {
    const length = end > start && this.#held[end - 1] === CR ? end - start - 1 : end - start
    if (length === 0) return null
    if (length > RECORD_BYTES_MAX) throw tooLong(this.#heldAt + start)
    return {
      start: this.#heldAt + start,
      end: this.#heldAt + after,
      bytes: this.#held.subarray(start, start + length),
    }
  }

  #drop(bytes: number): void {
    this.#held = this.#held.subarray(bytes)
    this.#heldAt += bytes
  }
}

function next(state: number, byte: number | undefined): number {
  if (state === QUOTED) return byte === QUOTE ? CLOSING : QUOTED
  if (byte === COMMA || byte === LF) return START
  if (byte === QUOTE && (state === START || state === CLOSING)) return QUOTED
  return PLAIN
}

const tooLong = (start: number): UnreadableFile =>
  new UnreadableFile(
    `The line that starts at byte ${start} is longer than ${RECORD_BYTES_MAX} bytes, or a quote in it is never closed.`,
  )
