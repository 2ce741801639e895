// Names whose usage was too much to be read as it lies: for some minutes it is not tried again. Where the memory is wrong, a question
// costs more, or fails its first try; its answer is the same.

const LARGE_MS = 10 * 60_000
const NAMES_MAX = 20_000

export type LargeNames = {
  hasAny(names: readonly string[], now: number): boolean
  add(names: readonly string[], now: number): void
}

/** Remembers nothing yet. Holds 20,000 names at most; the oldest are forgotten first. */
export function createLargeNames(): LargeNames {
  const until = new Map<string, number>()
  return {
    hasAny: (names, now) => names.some(name => (until.get(name) ?? 0) > now),
    add: (names, now) => {
      for (const name of names) {
        until.delete(name)
        until.set(name, now + LARGE_MS)
      }
      for (const name of until.keys()) {
        if (until.size <= NAMES_MAX) break
        until.delete(name)
      }
    },
  }
}
