// A persisted state equals the derived one when it states the result of the events before it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum } from '../decimal.ts'
import { contains, type Instant, type Interval, instantOf, interval } from '../time.ts'
import {
  carriedOn,
  isPersistable,
  PERSISTABLE,
  type Persistable,
  type PersistedUsage,
  persistedUsageAt,
} from './persisted-usage.ts'
import { usageInterval } from './usage-interval.ts'

type Event = { readonly at: Instant; readonly value: Decimal }

/** The figure of these events; null for none. */
function figureOf(type: Persistable, events: readonly Event[]): Decimal | null {
  const [first, ...others] = events.map(({ value }) => value)
  if (!first) return null
  return type === 'SUM' ? sum([first, ...others]) : others.reduce(type === 'MAX' ? max : min, first)
}

/** The state at the end of a period, as billing counts it. */
function stateAt(
  type: Persistable,
  events: readonly Event[],
  persisted: readonly PersistedUsage[],
  period: Interval,
): string | null {
  const counted = usageInterval(true, START, period, persisted)
  const figure = figureOf(
    type,
    events.filter(({ at }) => contains(counted, at)),
  )
  const state = persistedUsageAt(persisted, counted)
  const quantity = state ? carriedOn(type, state.usage, figure) : figure
  return quantity && plain(quantity)
}

const START = instantOf(1_000)
const anyTime = fc.integer({ min: 1_000, max: 1_100 }).map(instantOf)
const anyEvent = fc.record({ at: anyTime, value: fc.integer({ min: -50, max: 50 }).map(decimalOfInteger) })
const anyEvents = fc.array(anyEvent, { maxLength: 12 })
/** Consecutive periods, cut anywhere. */
const anyPeriods = fc
  .uniqueArray(fc.integer({ min: 1_001, max: 1_120 }), { minLength: 1, maxLength: 6 })
  .map(cuts => cuts.toSorted((a, b) => a - b))
  .map(cuts => cuts.map((cut, index) => interval(instantOf(cuts[index - 1] ?? 1_000), instantOf(cut))))
const anyType = fc.constantFrom(...PERSISTABLE)

describe('a persisted state', () => {
  test('equals the derived state at the end of any period when it states the result of the events before it', () => {
    fc.assert(
      fc.property(anyType, anyEvents, anyTime, anyPeriods, (type, events, at, periods) => {
        const before = figureOf(
          type,
          events.filter(event => event.at < at),
        )
        // There was no state to persist.
        if (!before) return
        const persisted = [{ id: 'persisted', at, usage: before }]
        for (const period of periods)
          expect(stateAt(type, events, persisted, period)).toBe(stateAt(type, events, [], period))
      }),
    )
  })

  test('replaces all earlier events in periods that end after it, and leaves earlier periods as they are', () => {
    fc.assert(
      fc.property(anyType, anyEvents, anyEvents, anyTime, anyPeriods, (type, events, others, at, periods) => {
        const persisted = [{ id: 'persisted', at, usage: decimal('37') }]
        const other = [...others.filter(event => event.at < at), ...events.filter(event => event.at >= at)]
        for (const period of periods) {
          if (period.end > at)
            expect(stateAt(type, other, persisted, period)).toBe(stateAt(type, events, persisted, period))
          else expect(stateAt(type, events, persisted, period)).toBe(stateAt(type, events, [], period))
        }
      }),
    )
  })

  test('is replaced by a later persisted state', () => {
    const [early, late] = [
      { id: 'early', at: instantOf(1_010), usage: decimal('10') },
      { id: 'late', at: instantOf(1_020), usage: decimal('20') },
    ]
    const events = [1_005, 1_015, 1_025].map(at => ({ at: instantOf(at), value: decimal('1') }))
    const ends = [1_008, 1_010, 1_011, 1_020, 1_021, 1_030]
    const of = (persisted: PersistedUsage[]) =>
      ends.map(end => stateAt('SUM', events, persisted, interval(START, instantOf(end))) ?? '0')
    expect(of([early, late])).toEqual(['1', '1', '10', '11', '20', '21'])
    expect(of([late, early])).toEqual(of([early, late]))
  })

  test.each<[Persistable, string, string | null, string]>([
    ['SUM', '37', '-2', '35'],
    ['SUM', '37', null, '37'],
    ['MAX', '-3', null, '-3'],
    ['MAX', '-3', '0', '0'],
    ['MAX', '37', '5', '37'],
    ['MIN', '5', null, '5'],
    ['MIN', '5', '0', '0'],
    ['MIN', '5', '37', '5'],
  ])('%s of %s persisted and %s of events is %s', (type, persisted, events, expected) => {
    expect(plain(carriedOn(type, decimal(persisted), events === null ? null : decimal(events)))).toBe(expected)
  })

  test('is one number, so there is none for a mean or a set', () => {
    expect(['SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE'].filter(isPersistable)).toEqual(['SUM', 'MAX', 'MIN'])
  })
})
