import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Arrivals, createReceived, type Stretch } from './received.ts'

const NOW = 1_000_000
/** Records of these seconds; of one meter unless a test says otherwise. */
const of = (seconds: Iterable<number>, ...meters: readonly string[]): Arrivals => ({
  seconds: new Set(seconds),
  meters: new Set(meters.length === 0 ? ['p/LIVE/a'] : meters),
})
const meterOf = (second: number): string => `p/LIVE/${second % 3}`
const holds = (stretches: readonly Stretch[], second: number): boolean =>
  stretches.some(({ from, before }) => second >= from && (before === null || second < before))

test('what is stored is copied once, neighbours in one stretch', () => {
  const received = createReceived()
  expect(received.take(NOW)).toEqual([])
  received.storing(of([12, 10, 11, 20]))()
  expect(received.take(NOW)).toEqual([
    { from: 10, before: 13 },
    { from: 20, before: 21 },
  ])
  expect(received.uncopied()?.earliest).toBe(10)
  expect(received.copied()).toBe(true)
  expect(received.uncopied()).toBe(null)
  expect(received.take(NOW)).toEqual([])
})

test('what is being stored is not copied, and nothing after it is whole until it is', () => {
  const received = createReceived()
  const [first, second] = [received.storing(of([10])), received.storing(of([10, 30]))]
  second()
  expect(received.take(NOW)).toEqual([
    { from: 10, before: 11 },
    { from: 30, before: 31 },
  ])
  received.copied()
  expect(received.uncopied()?.earliest).toBe(10)
  first()
  first()
  expect(received.take(NOW)).toEqual([{ from: 10, before: 11 }])
})

test('what could not be copied is copied with the next', () => {
  const received = createReceived()
  received.storing(of([10]))()
  received.take(NOW)
  received.storing(of([11]))()
  received.failed()
  expect(received.uncopied()?.earliest).toBe(10)
  expect(received.take(NOW)).toEqual([{ from: 10, before: 12 }])
})

test('the meters of what is not copied are named; while something was missed, any may have some', () => {
  const received = createReceived()
  const stored = received.storing(of([10], 'a', 'b'))
  received.storing(of([11], 'c'))()
  expect(received.uncopied()?.meters).toEqual(new Set(['a', 'b', 'c']))
  received.take(NOW)
  expect(received.uncopied()?.meters).toEqual(new Set(['a', 'b', 'c']))
  received.failed()
  received.take(NOW)
  received.copied()
  expect(received.uncopied()?.meters).toEqual(new Set(['a', 'b']))
  received.missingFrom(NOW - 10)
  expect(received.uncopied()).toEqual({ earliest: 10, meters: null })
  stored()
  received.take(NOW)
  received.copied()
  expect(received.uncopied()).toBe(null)
})

test('what was missed is copied by the hour, the last hour with all that is stored', () => {
  const received = createReceived()
  received.missingFrom(NOW - 7_000)
  received.missingFrom(NOW - 8_000)
  received.storing(of([NOW - 9_000, NOW]))()
  expect(received.take(NOW)).toEqual([{ from: NOW - 8_000, before: NOW - 4_400 }])
  received.failed()
  expect(received.take(NOW)).toEqual([{ from: NOW - 8_000, before: NOW - 4_400 }])
  expect(received.copied()).toBe(false)
  expect(received.uncopied()?.earliest).toBe(NOW - 9_000)
  expect(received.take(NOW)).toEqual([{ from: NOW - 4_400, before: NOW - 800 }])
  expect(received.copied()).toBe(false)
  expect(received.take(NOW)).toEqual([
    { from: NOW - 9_000, before: NOW - 8_999 },
    { from: NOW - 800, before: null },
  ])
  expect(received.copied()).toBe(true)
  expect(received.uncopied()).toBe(null)
})

test('however records are stored and copied, all are copied, and what is not is never before the earliest or of a meter that is not named', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('begin'), seconds: fc.uniqueArray(fc.nat({ max: 20_000 }), { minLength: 1 }) }),
    fc.record({ kind: fc.constantFrom('end', 'copy', 'fail') }),
    fc.record({ kind: fc.constant('missing'), from: fc.nat({ max: 19_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const received = createReceived()
      const running: { seconds: readonly number[]; end: () => void }[] = []
      // Seconds in which something is stored, or may be, that was not copied since.
      const owed = new Set<number>()
      const copy = (isDone: boolean): void => {
        const stretches = received.take(20_000)
        const inside = [...owed].filter(second => holds(stretches, second))
        if (!isDone) {
          received.failed()
          return
        }
        received.copied()
        const stillStored = new Set(running.flatMap(({ seconds }) => seconds))
        for (const second of inside) if (!stillStored.has(second)) owed.delete(second)
      }
      for (const each of steps) {
        if ('seconds' in each) {
          for (const second of each.seconds) owed.add(second)
          running.push({ seconds: each.seconds, end: received.storing(of(each.seconds, ...each.seconds.map(meterOf))) })
        } else if ('from' in each) {
          received.missingFrom(each.from)
          owed.add(each.from).add(19_999)
        } else if (each.kind === 'end') running.shift()?.end()
        else copy(each.kind === 'copy')
        const uncopied = received.uncopied()
        expect(Math.min(...owed, Number.POSITIVE_INFINITY)).toBeGreaterThanOrEqual(
          uncopied?.earliest ?? Number.POSITIVE_INFINITY,
        )
        const named = uncopied?.meters
        if (named) expect([...owed].filter(second => !named.has(meterOf(second)))).toEqual([])
      }
      for (const { end } of running.splice(0)) end()
      for (let turn = 0; turn < 20; turn += 1) copy(true)
      expect([...owed]).toEqual([])
      expect(received.uncopied()).toBe(null)
    }),
  )
})
