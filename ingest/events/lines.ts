// The log lines of one request, side by side in bytes, with what the publisher must know of each. There is one for all
// requests, used again and again: what it holds is good until the next request, and whoever keeps a line copies it.
import { type EventKey, KEY_WORDS, readKey } from './event-key.ts'
import { Output } from './quick/bytes.ts'

const FIRST_BYTES = 64 * 1024
const FIRST_LINES = 64

export class Lines {
  readonly output = new Output(FIRST_BYTES)
  readonly partitions: number
  count = 0
  /** Bytes of all lines together. */
  length = 0
  private ends = new Int32Array(FIRST_LINES)
  /** KEY_WORDS a line. */
  keys = new Int32Array(FIRST_LINES * KEY_WORDS)
  private readonly key: EventKey = new Int32Array(KEY_WORDS)

  /** `partitions`: how many the log has. */
  constructor(partitions: number) {
    this.partitions = partitions
  }

  clear(): void {
    this.count = 0
    this.length = 0
  }

  /** Adds a line given as text. Both hashes are lower-case hex. */
  add(line: string, idHash: string, contentHash: string): void {
    const bytes = Buffer.byteLength(line)
    this.output.reserve(this.length, bytes)
    this.output.bytes.write(line, this.length)
    this.push(this.length + bytes, readKey(idHash, contentHash, this.key))
  }

  /** Adds the line that was written to `output` from `length` to `end`. */
  push(end: number, key: EventKey): void {
    if (this.count === this.ends.length) this.grow()
    this.ends[this.count] = end
    this.keys.set(key, this.count * KEY_WORDS)
    this.count += 1
    this.length = end
  }

  startOf(line: number): number {
    return line === 0 ? 0 : this.endOf(line - 1)
  }

  endOf(line: number): number {
    return this.ends[line] ?? 0
  }

  /** Copies the key of a line into `key`. */
  readKey(line: number, key: EventKey): void {
    for (let word = 0; word < KEY_WORDS; word += 1) key[word] = this.keys[line * KEY_WORDS + word] ?? 0
  }

  /** The partition a line belongs to. */
  partitionOf(line: number): number {
    return partitionOfKey(this.keys[line * KEY_WORDS] ?? 0, this.partitions)
  }

  private grow(): void {
    const { ends, keys } = this
    this.ends = new Int32Array(ends.length * 2)
    this.ends.set(ends)
    this.keys = new Int32Array(keys.length * 2)
    this.keys.set(keys)
  }
}

/** As partitionOf, from the first word of the key. */
const partitionOfKey = (word: number, partitions: number): number => (word >>> 0) % partitions
