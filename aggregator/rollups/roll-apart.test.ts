import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bucket } from '../outcome.ts'
import { createApartRoller, type Turn } from './roll-apart.ts'

const bucketAt = (place: number): Bucket => ({
  platformId: 'plat_1',
  environment: 'LIVE',
  customerKey: 'c',
  meterReference: 'm',
  hour: place * 3_600,
})
const placesOf = (buckets: readonly Bucket[]): number[] => buckets.map(({ hour }) => hour / 3_600)
const ascending = (places: Iterable<number>): number[] => [...places].sort((a, b) => a - b)
const groupOf = (from: number, length: number): Bucket[] => Array.from({ length }, (_, place) => bucketAt(from + place))

class Refusal extends Error {}
class Silence extends Error {}
const isRefusal = (error: unknown): boolean => error instanceof Refusal

/** Rolls what it is given, and refuses each group with one of `bad`. Counts the statements of each turn. */
function rollerRefusing(bad: ReadonlySet<number>, fault: () => Error | null = () => null) {
  const rolled: number[] = []
  const statements: number[] = []
  const roller = createApartRoller(async group => {
    statements.push(group.length)
    const other = fault()
    if (other) throw other
    if (placesOf(group).some(place => bad.has(place))) throw new Refusal('refused')
    rolled.push(...placesOf(group))
  }, isRefusal)
  return { roller, rolled, statements }
}

/** Turns without new groups until one has nothing to do. */
async function untilDone(turn: () => Promise<Turn>, statements: readonly number[]): Promise<Bucket[]> {
  const refused: Bucket[] = []
  for (let turns = 0; turns < 1_000; turns += 1) {
    const before = statements.length
    refused.push(...(await turn()).refused)
    if (statements.length === before) return refused
  }
  return expect.unreachable('it never ends')
}

test('whatever is refused, all other buckets are rolled up once, and each that is refused is named once', async () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 })
  const given = lengths.chain(found => {
    const count = found.reduce((sum, length) => sum + length, 0)
    return fc.tuple(fc.constant(found), fc.uniqueArray(fc.nat(count - 1), { maxLength: count }))
  })
  await fc.assert(
    fc.asyncProperty(given, async ([found, bad]) => {
      const { roller, rolled, statements } = rollerRefusing(new Set(bad))
      let from = 0
      const groups = found.map(length => {
        from += length
        return groupOf(from - length, length)
      })
      const first = await roller.roll(groups)
      const others = await untilDone(() => roller.roll([]), statements)
      expect(ascending(placesOf([...first.refused, ...others]))).toEqual(ascending(bad))
      const good = placesOf(groups.flat()).filter(place => !bad.includes(place))
      expect(ascending(rolled)).toEqual(good)
    }),
  )
})

test('groups that are not refused are rolled up in the same turn, and few statements find the one bucket', async () => {
  const { roller, rolled, statements } = rollerRefusing(new Set([300]))
  const first = await roller.roll([groupOf(0, 512), groupOf(512, 512)])
  expect(first.errors).toHaveLength(8)
  expect(rolled).toEqual(expect.arrayContaining(placesOf(groupOf(512, 512))))
  const refused = await untilDone(() => roller.roll([]), statements)
  expect(placesOf(refused)).toEqual([300])
  expect(statements.length).toBeLessThan(25)
})

test('where all is refused a turn ends all the same, and no more is taken for long', async () => {
  const { roller, statements } = rollerRefusing(new Set(placesOf(groupOf(0, 10_240))))
  for (let turn = 0; turn < 10; turn += 1) {
    const before = statements.length
    if (!roller.isFull()) await roller.roll([groupOf(turn * 1_024, 512), groupOf(turn * 1_024 + 512, 512)])
    expect(statements.length - before).toBeLessThanOrEqual(8)
  }
  expect(roller.isFull()).toBe(true)
})

test('when ClickHouse does not answer nothing more is tried, and nothing is forgotten', async () => {
  let isSilent = true
  const { roller, rolled, statements } = rollerRefusing(new Set([3]), () => (isSilent ? new Silence('gone') : null))
  const first = await roller.roll([groupOf(0, 8), groupOf(8, 8), groupOf(16, 8)])
  expect(first.errors).toHaveLength(1)
  expect([first.refused, rolled, statements]).toEqual([[], [], [8]])
  isSilent = false
  await roller.roll([], AbortSignal.abort())
  expect(statements).toEqual([8])
  const refused = await untilDone(() => roller.roll([]), statements)
  expect(placesOf(refused)).toEqual([3])
  expect(ascending(rolled)).toEqual(placesOf(groupOf(0, 24)).filter(place => place !== 3))
})
