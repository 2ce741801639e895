// The log lines of one request, side by side in bytes, with what the publisher must know of each. There is one for all
// requests, used again and again: what it holds is good until the next request, and a caller that keeps a line copies it.

import { Output } from './fast-path/bytes.ts'
import { type EventKeys, KEY_WORDS, putKey } from './repeats/event-key.ts'

const FIRST_BYTES = 64 * 1024
const FIRST_LINES = 64

export class Lines {
  readonly output = new Output(FIRST_BYTES)
  readonly partitions: number
  count = 0
  /** Bytes of all lines together. */
  length = 0
  /** Whether all of them are ASCII. */
  isAscii = true
  /** The keys of the lines. */
  keys: EventKeys = new Int32Array(FIRST_LINES * KEY_WORDS)
  private ends = new Int32Array(FIRST_LINES)

  /** `partitions`: how many the log has. */
  constructor(partitions: number) {
    this.partitions = partitions
  }

  clear(): void {
    this.count = 0
    this.length = 0
    this.isAscii = true
  }

  /** Makes room for a line of at most so many bytes, and for its key. */
  reserve(bytes: number): void {
    this.output.reserve(this.length, bytes)
    if (this.count === this.ends.length) this.grow()
  }

  /** Adds a line given as text. Both hashes are lower-case hex. */
  add(line: string, idHash: string, contentHash: string): void {
    const bytes = Buffer.byteLength(line)
    this.reserve(bytes)
    this.output.bytes.write(line, this.length)
    if (bytes !== line.length) this.isAscii = false
    putKey(idHash, contentHash, this.keys, this.keyOf(this.count))
    this.push(this.length + bytes)
  }

  /** Adds the line that was written to `output` from `length` to `end`, and its key to `keys`. */
  push(end: number): void {
    this.ends[this.count] = end
    this.count += 1
    this.length = end
  }

  startOf(line: number): number {
    return line === 0 ? 0 : this.endOf(line - 1)
  }

  endOf(line: number): number {
    return this.ends[line] ?? 0
  }

  /** Where the key of a line starts in `keys`. */
  keyOf(line: number): number {
    return line * KEY_WORDS
  }

  /** The partition a line belongs to. */
  partitionOf(line: number): number {
    return ((this.keys[this.keyOf(line)] ?? 0) >>> 0) % this.partitions
  }

  private grow(): void {
    const { ends, keys } = this
    this.ends = new Int32Array(ends.length * 2)
    this.ends.set(ends)
    this.keys = new Int32Array(keys.length * 2)
    this.keys.set(keys)
  }
}
