// Which seeds a run of the tests goes through: SEED=7 one, SEEDS=50 as many from FIRST_SEED on, or else those that were chosen.

/** The seeds of this run; `chosen`: those of the whole suite. */
export function seedsOr(chosen: readonly number[]): readonly number[] {
  const { SEED, SEEDS, FIRST_SEED } = process.env
  if (SEED) return [Number(SEED)]
  return SEEDS ? Array.from({ length: Number(SEEDS) }, (_, place) => Number(FIRST_SEED ?? 0) + place) : chosen
}
