// In how much time a list looks for its events first. Events of one platform come at about the rate they came at a moment ago, so what
// was enough last time is tried first. Where the memory is wrong, a list asks once more; its answer is the same.

const SECOND_MS = 1_000
/** From ten seconds to three years, each six times the one before. */
export const WINDOWS_MS: readonly number[] = Array.from({ length: 10 }, (_, place) => 10 * SECOND_MS * 6 ** place)
/** Half an hour. */
const FIRST = 3
const ENTRIES_MAX = 10_000

export type ListWindows = {
  /** The windows to try, one after the other, until one holds enough. */
  from(key: string): readonly number[]
  /** Says that this one held enough, or that none did; the next list of this key begins with it, or a smaller one now and then. */
  held(key: string, ms: number | null): void
}

/** The window before the first was found too small so many lists ago; after AGAIN it is tried again. */
type Known = { first: number; since: number }
const AGAIN = 20

/** Remembers nothing yet, and 10,000 keys at most; the oldest are forgotten first. */
export function createListWindows(): ListWindows {
  const known = new Map<string, Known>()
  return {
    from: key => WINDOWS_MS.slice(known.get(key)?.first ?? FIRST),
    held: (key, ms) => {
      const { first, since } = known.get(key) ?? { first: FIRST, since: AGAIN }
      const place = ms === null ? WINDOWS_MS.length : WINDOWS_MS.indexOf(ms)
      known.delete(key)
      if (place !== first) known.set(key, { first: place, since: 0 })
      else if (since < AGAIN) known.set(key, { first, since: since + 1 })
      else known.set(key, { first: Math.max(0, first - 1), since })
      for (const oldest of known.keys()) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
