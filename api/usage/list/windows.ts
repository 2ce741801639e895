// In how much time a list looks for its events first. Events of one platform come at about the rate they came at a moment ago, so what
// was enough last time is tried first. Where the memory is wrong, a list asks once more; its answer is the same.

const STEP = 6
/** From a tenth of a second to seven years, each six times the one before. */
export const WINDOWS_MS: readonly number[] = Array.from({ length: 13 }, (_, place) => 100 * STEP ** place)
const ENTRIES_MAX = 10_000

export type ListWindows = {
  /** The windows to try, one after the other, until one holds enough. */
  from(key: string): readonly number[]
  /** Says that this one held enough, or that none did; the next list of this key begins with it, or a smaller one now and then. */
  held(key: string, ms: number | null): void
  /** How many of the next windows are not worth a try after one that held this part of what is wanted. */
  hopeless(part: number): number
}

/** The window before the first was found too small so many lists ago; after AGAIN it is tried again. */
type Known = { first: number; since: number }
const AGAIN = 20
/** Windows passed over after one that held nothing. */
const AFTER_NONE = 2

/** Remembers nothing yet, and 10,000 keys at most; the oldest are forgotten first. A list of a key without a memory begins with `firstMs`. */
export function createListWindows(firstMs: number): ListWindows {
  const known = new Map<string, Known>()
  const beginning = WINDOWS_MS.findIndex(ms => ms >= firstMs)
  return {
    hopeless: part => (part === 0 ? AFTER_NONE : Math.floor(Math.log(1 / part) / Math.log(STEP))),
    from: key => WINDOWS_MS.slice(known.get(key)?.first ?? beginning),
    held: (key, ms) => {
      const { first, since } = known.get(key) ?? { first: beginning, since: AGAIN }
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
