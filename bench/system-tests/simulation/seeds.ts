// The seeds of a run of the tests, in two halves for two cores. More of them: SEEDS=20000. One again: SEED=123.
import { describe, expect, test } from 'vitest'
import { loadSimulation } from './load.ts'
import type { Story } from './simulate.ts'

const { simulate } = await loadSimulation()

const SEEDS = Number(process.env['SEEDS'] ?? 600)
const ONLY = process.env['SEED']
const SEEDS_PER_TEST = 150
/** Some seven seconds on a quiet machine. */
const TIMEOUT_MS = 300_000

/** Runs a seed; what fails is named by the line that runs it again. */
export async function run(seed: number): Promise<Story> {
  try {
    return await simulate(seed)
  } catch (error) {
    const again = `SEED=${seed} npx vitest run --project unit-alone bench/system-tests/simulation/simulation.test.ts`
    throw new Error(`${again} # ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** Declares the tests of one half of the seeds; of the first when only one is asked for. */
export function testSeeds(half: 'first' | 'second'): void {
  describe('what was accepted counts once, deletions and amendments hold, roll-ups are what the rows say', () => {
    if (ONLY) test.runIf(half === 'first')(`seed ${ONLY}`, () => run(Number(ONLY)), TIMEOUT_MS)
    else test.each(blocks(half))('seeds %i to %i', runBlock, TIMEOUT_MS)
  })
}

function blocks(half: 'first' | 'second'): [from: number, to: number][] {
  const middle = Math.ceil(SEEDS / 2)
  const [start, end] = half === 'first' ? [0, middle] : [middle, SEEDS]
  const list: [number, number][] = []
  for (let from = start; from < end; from += SEEDS_PER_TEST) list.push([from, Math.min(end, from + SEEDS_PER_TEST) - 1])
  return list
}

async function runBlock(from: number, to: number): Promise<void> {
  const stories: Story[] = []
  for (let seed = from; seed <= to; seed += 1) stories.push(await run(seed))
  const mean = (of: (story: Story) => number): number =>
    stories.reduce((sum, story) => sum + of(story), 0) / stories.length
  // It would prove nothing if nothing happened.
  expect(mean(story => story.kills)).toBeGreaterThan(0.5)
  expect(mean(story => story.faults)).toBeGreaterThan(5)
  expect(mean(story => story.duplicates)).toBeGreaterThan(3)
  expect(mean(story => story.amendments)).toBeGreaterThan(1)
  expect(mean(story => story.deletions)).toBeGreaterThan(0.5)
}
