// Names whose usage was too much to be read as it lies: for some minutes it is not tried again for as much time or more. Where the
// memory is wrong, a question costs more, or fails its first try; its answer is the same.

const LARGE_MS = 10 * 60_000
const NAMES_MAX = 20_000

/** `length` is the time that a question is about, in milliseconds. */
export type LargeNames = {
  hasAny(names: readonly string[], length: number, now: number): boolean
  add(names: readonly string[], length: number, now: number): void
}

/** Remembers nothing yet. Holds 20,000 names at most; the oldest are forgotten first. */
export function createLargeNames(): LargeNames {
  const known = new Map<string, { readonly until: number; readonly length: number }>()
  const found = (name: string, now: number) => {
    const large = known.get(name)
    return large !== undefined && large.until > now ? large : undefined
  }
  return {
    hasAny: (names, length, now) =>
      names.some(name => (found(name, now)?.length ?? Number.POSITIVE_INFINITY) <= length),
    add: (names, length, now) => {
      for (const name of names) {
        const least = Math.min(length, found(name, now)?.length ?? length)
        known.delete(name)
        known.set(name, { until: now + LARGE_MS, length: least })
      }
      for (const name of known.keys()) {
        if (known.size <= NAMES_MAX) break
        known.delete(name)
      }
    },
  }
}
