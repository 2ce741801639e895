// Draws that follow from a seed.
/** Numbers of 0 to 1 that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export type Random = ReturnType<typeof randomOf>
export const whole = (random: Random, min: number, max: number): number => min + Math.floor(random() * (max - min + 1))
export const chance = (random: Random, share: number): boolean => random() < share
export function pick<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[whole(random, 0, list.length - 1)] ?? list[0]
}

/** Nothing happens at the midnight at which a period is cut, where one moment has two orders. */
export const hours = (random: Random): number => whole(random, 5 * 60, 9 * 60) * 60_000
