// Memoized functions.

/** Cached answers for one kind of question; a calendar has few days, and thousands of customers need the same ones. */
export const CACHE_MAX = 20_000

/** Caches the results of a function. `keyOf` must give the same key for the same question. */
export function memoized<Args extends readonly unknown[], Value>(
  compute: (...args: Args) => Value,
  keyOf: (...args: Args) => string | number,
  max = CACHE_MAX,
): (...args: Args) => Value {
  const known = new Map<string | number, Value>()
  return (...args) => {
    const key = keyOf(...args)
    const found = known.get(key)
    if (found !== undefined) return found
    const value = compute(...args)
    if (known.size >= max) known.clear()
    known.set(key, value)
    return value
  }
}
