// The constraints of pricing groups over the time of a schedule (semantics 3.1).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { SELECTION, type SelectionConstraint } from '../../catalog/pricing-groups/schema.ts'
import type { EnabledPricing } from './schema.ts'
import { brokenSelection, type SelectionGroup } from './selection.ts'

const START = '2026-03-01T00:00:00Z'
const day = (number: number) => instantOf(at(START) + number * 86_400_000)
const group = (selection_constraint: SelectionConstraint, ...pricingIds: readonly string[]): SelectionGroup => ({
  name: 'Support',
  selection_constraint,
  pricingIds,
})
const MONTH = { start: day(0), end: day(31) }
/** From one day to another; without an end, for good. */
const on = (pricing_id: string, from?: number, until?: number): EnabledPricing => ({
  pricing_id,
  ...(from === undefined ? {} : { start_at: formatInstant(day(from)) }),
  ...(until === undefined ? {} : { end_at: formatInstant(day(until)) }),
})

test.each<
  readonly [string, SelectionConstraint, readonly EnabledPricing[], null | readonly [number, number, number | null]]
>([
  ['nothing of EXACTLY_ONE', 'EXACTLY_ONE', [], [0, 0, null]],
  ['one for good', 'EXACTLY_ONE', [on('a')], null],
  ['two at once', 'EXACTLY_ONE', [on('a'), on('b')], [0, 2, 1]],
  ['one after the other', 'EXACTLY_ONE', [on('a', undefined, 10), on('b', 10)], null],
  ['a gap of a day', 'EXACTLY_ONE', [on('a', undefined, 10), on('b', 11)], [10, 0, null]],
  ['a day of both', 'AT_MOST_ONE', [on('b', 9), on('a', undefined, 10)], [9, 2, 1]],
  ['a late start', 'AT_LEAST_ONE', [on('a', 1)], [0, 0, null]],
  ['an end before that of the schedule', 'AT_LEAST_ONE', [on('a', 0, 30)], [30, 0, null]],
  ['an end at that of the schedule', 'AT_LEAST_ONE', [on('a', 0, 31)], null],
  ['two of AT_LEAST_ONE', 'AT_LEAST_ONE', [on('a'), on('b', 5, 6)], null],
  ['none of AT_MOST_ONE', 'AT_MOST_ONE', [], null],
  ['all of ANY', 'ANY', [on('a'), on('b')], null],
  ['what is in another group', 'EXACTLY_ONE', [on('a'), on('other')], null],
])('%s', (_name, constraint, enabled, expected) => {
  const broken = brokenSelection([group(constraint, 'a', 'b')], enabled, MONTH)
  expect(broken && [broken.at, broken.enabled, broken.entry]).toEqual(
    expected && [day(expected[0]), ...expected.slice(1)],
  )
})

test('an open end is judged to the last change', () => {
  const forever = { start: day(0), end: null }
  expect(brokenSelection([group('EXACTLY_ONE', 'a')], [on('a')], forever)).toBe(null)
  expect(brokenSelection([group('EXACTLY_ONE', 'a')], [on('a', 0, 400)], forever)?.at).toBe(day(400))
})

test('of several groups the one that breaks first is named', () => {
  const groups = [group('EXACTLY_ONE', 'a'), { ...group('EXACTLY_ONE', 'b'), name: 'Storage' }]
  expect(brokenSelection(groups, [on('a', 0, 9), on('b', 0, 5)], MONTH)).toMatchObject({
    group: { name: 'Storage' },
    at: day(5),
  })
})

test('law: no instant before the breach breaks the constraint, and that of the breach does', () => {
  const entry = fc.tuple(
    fc.constantFrom('a', 'b', 'c'),
    fc.option(fc.integer({ min: -5, max: 25 }), { nil: undefined }),
    fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
  )
  const constraints = Object.keys(SELECTION) as SelectionConstraint[]
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 5 }),
      fc.constantFrom(...constraints),
      fc.integer({ min: 1, max: 40 }),
      (entries, constraint, length) => {
        const enabled = entries.map(([id, from, until]) =>
          on(id, from, until === undefined ? undefined : (from ?? 0) + until),
        )
        const broken = brokenSelection([group(constraint, 'a', 'b')], enabled, { start: day(0), end: day(length) })
        const { least, most } = SELECTION[constraint]
        // Everything changes at whole days, so one instant of each tells all.
        const isBroken = (number: number) => {
          const isOn = (id: string) =>
            entries.some(
              ([each, from = 0, until]) =>
                each === id && from <= number && (until === undefined || number < from + until),
            )
          const count = ['a', 'b'].filter(isOn).length
          return count < least || (most !== null && count > most)
        }
        const first = Array.from({ length }, (_, number) => number).find(isBroken)
        expect(broken?.at ?? null).toBe(first === undefined ? null : day(first))
        if (broken?.entry != null) expect(['a', 'b']).toContain(enabled[broken.entry]?.pricing_id)
      },
    ),
  )
})
