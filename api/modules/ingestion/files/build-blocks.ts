// Lines to blocks: bounded in lines and in bytes, so that one fits in memory whatever its lines are.
import { BLOCK_BYTES_MAX, BLOCK_LINES_MAX, type NewBlock } from './blocks.ts'
import type { RawRecord } from './csv/split-records.ts'

export class BlockBuilder {
  #open: NewBlock | null = null
  #number: number
  #lines: number

  /** Continues after a block; from the start of the file after null. */
  constructor(last: NewBlock | null) {
    this.#number = last === null ? 0 : last.number + 1
    this.#lines = last === null ? 0 : last.first_line + last.lines - 1
  }

  /** Lines of the file so far. */
  get lines(): number {
    return this.#lines
  }

  /** Adds the next line; gives the block it completes. */
  add({ start, end }: Pick<RawRecord, 'start' | 'end'>): NewBlock | null {
    this.#lines += 1
    const open = this.#open ?? {
      number: this.#number,
      first_line: this.#lines,
      lines: 0,
      byte_start: start,
      byte_end: end,
    }
    this.#open = { ...open, lines: open.lines + 1, byte_end: end }
    const isFull = this.#open.lines === BLOCK_LINES_MAX || end - open.byte_start >= BLOCK_BYTES_MAX
    return isFull ? this.close() : null
  }

  /** The block that is not full yet; null when there is none. */
  close(): NewBlock | null {
    const block = this.#open
    this.#open = null
    if (block !== null) this.#number += 1
    return block
  }
}
