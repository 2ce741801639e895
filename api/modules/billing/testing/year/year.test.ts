// Simulated years of random subscriptions: billing closes the same invoices with the same lines as a slow model written
// from the rules. One seed again: SEED=123; more of them: SEEDS=20000, or from the thousandth on FIRST_SEED=1000 SEEDS=600, which takes
// half a second each; TIME_LIMIT=600 is seconds for five of them, on a machine that does much else.
import { expect, test } from 'vitest'
import { differences, differencesIn } from './compare.ts'
import { storyOf } from './random-story.ts'

const ONLY = process.env['SEED']
const SEEDS = Number(process.env['SEEDS'] ?? 60)
const FROM = Number(process.env['FIRST_SEED'] ?? 0)
const LIMIT_MS = Number(process.env['TIME_LIMIT'] ?? 180) * 1_000
/** Beside the first ones: years that once differed, and one whose next schedule takes an amount on the total along (67). */
const CHOSEN = [67, 6_120, 41_221, 70_182, 71_112]
/** A test each, so that none takes long on a slow machine. */
const AT_ONCE = 5
const FIRST = ONLY
  ? [Number(ONLY)]
  : Array.from({ length: Math.ceil(SEEDS / AT_ONCE) }, (_, block) => FROM + block * AT_ONCE)

const BLOCKS = FIRST.map(first => Array.from({ length: ONLY ? 1 : AT_ONCE }, (_, index) => first + index))

test.each(ONLY ? BLOCKS : [...BLOCKS, CHOSEN])(
  'years from seed %i on are billed as the rules say',
  (...seeds) => {
    const failed = seeds.flatMap(seed => {
      const found = differences(seed)
      const again = `SEED=${seed} npm test -- --project unit api/modules/billing/testing/year`
      return found.length === 0 ? [] : [`${again} # ${found.join(' | ')}`]
    })
    expect(failed).toEqual([])
  },
  LIMIT_MS,
)

// Midnight is skipped in São Paulo on 4 November 2018, and in Apia the whole of 30 December 2011.
test.each<[zone: string, year: number]>([
  ['America/Sao_Paulo', 2018],
  ['Pacific/Apia', 2011],
])(
  'years in %s from %i on are billed as the rules say',
  (zone, year) => {
    const seeds = Array.from({ length: ONLY ? 0 : 30 }, (_, index) => FROM + index)
    const failed = seeds.flatMap(seed => differencesIn(storyOf(seed, { zone, year })).map(text => `${seed}: ${text}`))
    expect(failed).toEqual([])
  },
  LIMIT_MS,
)
