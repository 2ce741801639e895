// The references of one file, so that the first line of each decides: 16 bytes a reference in a table that grows with them.

const WORDS = 4
const FIRST_SLOTS = 4_096

/** An open-addressing table of (96 bits of the id hash, line). Two references with equal bits are one in 10^15 files. */
export class ReferencesSeen {
  #slots = FIRST_SLOTS
  #table = new Int32Array(FIRST_SLOTS * WORDS)
  #size = 0

  /** The line that has this reference already; null when it is new, and then it is of `line`. Lines count from 1. */
  claim(idHash: string, line: number): number | null {
    const words = [0, 8, 16].map(at => Number.parseInt(idHash.slice(at, at + 8), 16) | 0)
    const [a = 0, b = 0, c = 0] = words
    const slot = this.#find(a, b, c)
    const known = this.#table[slot * WORDS + 3] ?? 0
    if (known !== 0) return known === line ? null : known
    this.#table.set([a, b, c, line], slot * WORDS)
    this.#size += 1
    if (this.#size * 4 > this.#slots * 3) this.#grow()
    return null
  }

  /** The slot of these words, or the empty one they belong into. */
  #find(a: number, b: number, c: number): number {
    const table = this.#table
    for (let slot = (a >>> 0) % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const at = slot * WORDS
      if (table[at + 3] === 0 || (table[at] === a && table[at + 1] === b && table[at + 2] === c)) return slot
    }
  }

  #grow(): void {
    const old = this.#table
    this.#slots *= 2
    this.#table = new Int32Array(this.#slots * WORDS)
    for (let at = 0; at < old.length; at += WORDS) {
      if (old[at + 3] === 0) continue
      const slot = this.#find(old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0)
      this.#table.set(old.subarray(at, at + WORDS), slot * WORDS)
    }
  }
}
