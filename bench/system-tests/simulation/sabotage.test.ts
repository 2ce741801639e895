// The simulation finds what it is there to find: the same system with one fault of our own making in it.
import { expect, test } from 'vitest'
import { loadSimulation } from './load.ts'
import { SABOTAGES } from './sabotage.ts'

const { simulate } = await loadSimulation()

/** Half of what a run of the tests goes through; most are found within ten. */
const SEEDS = 500
const TIMEOUT_MS = 300_000

test.each(Object.entries(SABOTAGES))(
  'the simulation finds that %s',
  async (_name, sabotage) => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const found = await simulate(seed, sabotage).then(
        () => null,
        (error: Error) => error.message,
      )
      if (found === null) continue
      expect(found).toMatch(sabotage.finding)
      return
    }
    expect.fail(`not found in ${SEEDS} seeds`)
  },
  TIMEOUT_MS,
)
