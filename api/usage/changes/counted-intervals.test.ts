import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import { type ChangeMark, type CountedInterval, changedBy, segmentsOf } from './counted-intervals.ts'

const HOUR = 3_600_000
type Mark = { readonly hour: number; readonly partition: number; readonly seq: number; readonly key: string }

const positions = fc.array(fc.nat(6), { maxLength: 3 })
const piece = fc
  .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 30 }), positions, fc.subarray(['a', 'b']))
  .map(([start, length, at, newKeys]): CountedInterval => {
    // In quarters of an hour, so that edges lie within hours too.
    const within = interval(instantOf((start * HOUR) / 4), instantOf(((start + length) * HOUR) / 4))
    return { interval: within, positions: at, newKeys }
  })
const mark: fc.Arbitrary<Mark> = fc.record({
  hour: fc.integer({ min: 0, max: 20 }),
  partition: fc.nat(3),
  seq: fc.integer({ min: 1, max: 7 }),
  key: fc.constantFrom('a', 'b', 'c'),
})

/** What is asked: any mark in an hour of the piece, behind its position or of a new key. */
const asked = (each: CountedInterval, marks: readonly Mark[]): boolean =>
  marks.some(
    ({ hour, partition, seq, key }) =>
      (hour + 1) * HOUR > each.interval.start &&
      hour * HOUR < each.interval.end &&
      (seq > (each.positions[partition] ?? 0) || each.newKeys.includes(key)),
  )

/** What the statement gives: by segment, partition and new key the last mark that may touch a piece. */
function changeMarks(pieces: readonly CountedInterval[], marks: readonly Mark[]): ChangeMark[] {
  const fresh = new Set(pieces.flatMap(({ newKeys }) => newKeys))
  const last = new Map<string, ChangeMark>()
  for (const { hour, partition, seq, key: customerKey } of marks) {
    const segments = segmentsOf(pieces)
    const segment = segments.findLastIndex(({ start }) => start <= hour * HOUR)
    const within = segments[segment]
    if (!within || hour * HOUR >= within.end) continue
    const key = fresh.has(customerKey) ? customerKey : ''
    if (key === '' && seq <= (within.least[partition] ?? 0)) continue
    const name = `${segment} ${partition} ${key}`
    if ((last.get(name)?.seq ?? 0) < seq) last.set(name, { segment, partition, key, seq })
  }
  return [...last.values()]
}

test('the marks that segments let through touch the pieces that any mark touched', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.array(mark, { maxLength: 12 }), (pieces, marks) => {
      const answer = changedBy(pieces, segmentsOf(pieces), changeMarks(pieces, marks))
      expect(answer).toEqual(pieces.map(each => asked(each, marks)))
    }),
    { numRuns: 2_000 },
  )
})

test('segments tile the hours of the pieces, in order, and there are fewer than twice as many', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
      const segments = segmentsOf(pieces)
      expect(segments.length).toBeLessThanOrEqual(Math.max(0, 2 * pieces.length - 1))
      for (const [place, { start, end }] of segments.entries()) {
        expect(start).toBeLessThan(end)
        expect(start).toBeGreaterThanOrEqual(segments[place - 1]?.end ?? 0)
      }
      const hours = (of: readonly { readonly start: number; readonly end: number }[]): number[] =>
        Array.from({ length: 24 }, (_, hour) => hour).filter(hour =>
          of.some(({ start, end }) => (hour + 1) * HOUR > start && hour * HOUR < end),
        )
      expect(hours(segments)).toEqual(hours(pieces.map(each => each.interval)))
    }),
  )
})

test('a thousand closed months, one after the other or each from the first on, make a thousand segments', () => {
  const months = Array.from({ length: 1_000 }, (_, month) => [month, month + 1] as const)
  const piecesOf = (from: (month: number) => number): CountedInterval[] =>
    months.map(([start, end], place) => ({
      interval: interval(instantOf(from(start) * HOUR), instantOf(end * HOUR)),
      positions: [place],
      newKeys: [],
    }))
  for (const pieces of [piecesOf(month => month), piecesOf(() => 0)]) {
    const segments = segmentsOf(pieces)
    expect(segments).toHaveLength(1_000)
    expect(segments.map(({ least }) => least[0])).toEqual(months.map((_, place) => place))
  }
})
