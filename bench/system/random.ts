// Seeded chance: a run that failed is made again from the seed it printed. Not for secrets.

export type Random = {
  /** A whole number from 0 up to, not including, `below`. */
  below(limit: number): number
  between(from: number, to: number): number
  pick<T>(list: readonly T[]): T
}

/** mulberry32: small, and the same numbers on every machine. */
export function randomFrom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    between: (from, to) => from + below(to - from),
    pick: list => {
      if (list.length === 0) throw new RangeError('nothing to pick from')
      return list[below(list.length)] as (typeof list)[number]
    },
  }
}

/** The seed of this run: FAULT_SEED where one is to be repeated, else a new one. */
export function runSeed(): number {
  const given = process.env['FAULT_SEED']
  return given ? Number(given) : Math.floor(performance.timeOrigin) & 0x7fffffff
}
