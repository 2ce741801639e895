import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import { planRead } from './read-plan.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('the split between roll-ups and raw rows', () => {
  test('reads edges and stale hours raw, and days only where they are whole and settled', () => {
    const within = interval(instantOf(HOUR / 2), instantOf(5 * DAY + 2 * HOUR + 1))
    expect(planRead(within, { hours: [0, DAY + 2 * HOUR, 5 * DAY + 2 * HOUR], days: [0, DAY, 3 * DAY] })).toEqual({
      raw: [
        { start: HOUR / 2, end: HOUR },
        { start: DAY + 2 * HOUR, end: DAY + 3 * HOUR },
        { start: 5 * DAY + 2 * HOUR, end: 5 * DAY + 2 * HOUR + 1 },
      ],
      hours: [
        { start: HOUR, end: DAY + 2 * HOUR },
        { start: DAY + 3 * HOUR, end: 2 * DAY },
        { start: 3 * DAY, end: 4 * DAY },
        { start: 5 * DAY, end: 5 * DAY + 2 * HOUR },
      ],
      days: [
        { start: 2 * DAY, end: 3 * DAY },
        { start: 4 * DAY, end: 5 * DAY },
      ],
    })
  })

  test('reads what is recent raw, from the hour it begins in', () => {
    const within = interval(instantOf(0), instantOf(2 * DAY))
    const plan = planRead(within, { hours: [], days: [], from: DAY + 2 * HOUR + 1 })
    expect(plan).toEqual({
      raw: [{ start: DAY + 2 * HOUR, end: 2 * DAY }],
      hours: [{ start: DAY, end: DAY + 2 * HOUR }],
      days: [{ start: 0, end: DAY }],
    })
    expect(planRead(within, { hours: [], days: [], from: -1 }).raw).toEqual([within])
    expect(planRead(within, { hours: [], days: [], from: 3 * DAY }).raw).toEqual([])
  })

  test('reads days that are looked for no more by their hours', () => {
    const within = interval(instantOf(0), instantOf(3 * DAY))
    const plan = planRead(within, { hours: [], days: [], from: 2 * DAY + HOUR, daysFrom: 2 * DAY - 1 })
    expect(plan).toEqual({
      raw: [{ start: 2 * DAY + HOUR, end: 3 * DAY }],
      hours: [{ start: DAY, end: 2 * DAY + HOUR }],
      days: [{ start: 0, end: DAY }],
    })
    expect(planRead(within, { hours: [], days: [], daysFrom: 3 * DAY }).days).toEqual([within])
    expect(planRead(within, { hours: [], days: [], daysFrom: Number.POSITIVE_INFINITY }).days).toEqual([within])
  })

  test('tiles the interval without gap or overlap, uses only whole settled hours and days, and stays bounded', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.integer({ min: 0, max: 100 * HOUR }),
          fc.integer({ min: 0, max: 4 }).map(day => day * DAY),
        ),
        fc.oneof(
          fc.integer({ min: 1, max: 2_000 * HOUR }),
          fc.integer({ min: 1, max: 90 }).map(days => days * DAY),
        ),
        fc.uniqueArray(fc.integer({ min: -5, max: 2_100 }), { maxLength: 120 }),
        fc.uniqueArray(fc.integer({ min: -1, max: 90 }), { maxLength: 80 }),
        fc.option(fc.integer({ min: -HOUR, max: 2_100 * HOUR }), { nil: undefined }),
        fc.option(fc.integer({ min: -HOUR, max: 2_100 * HOUR }), { nil: undefined }),
        (start, length, staleHours, staleDays, from, daysFrom) => {
          const within = interval(instantOf(start), instantOf(start + length))
          const stale = { hours: staleHours.map(hour => hour * HOUR), days: staleDays.map(day => day * DAY) }
          const { raw, hours, days } = planRead(within, {
            ...stale,
            ...(from === undefined ? {} : { from }),
            ...(daysFrom === undefined ? {} : { daysFrom }),
          })
          const all = [...raw, ...hours, ...days].toSorted((a, b) => a.start - b.start)
          expect(all[0]?.start).toBe(within.start)
          expect(all.at(-1)?.end).toBe(within.end)
          for (const [index, piece] of all.slice(1).entries()) expect(piece.start).toBe(all[index]?.end)
          for (const [pieces, unit, starts] of [
            [hours, HOUR, stale.hours],
            [days, DAY, stale.days],
          ] as const) {
            for (const piece of pieces) {
              expect([piece.start % unit, piece.end % unit]).toEqual([0, 0])
              expect(starts.some(at => piece.start <= at && at < piece.end)).toBe(false)
              if (from !== undefined) expect(piece.end).toBeLessThanOrEqual(Math.max(from, piece.start))
            }
          }
          expect(stale.hours.some(at => days.some(piece => piece.start <= at && at < piece.end))).toBe(false)
          expect(raw.length).toBeLessThanOrEqual(24)
          expect(hours.length + days.length).toBeLessThanOrEqual(100)
        },
      ),
    )
  })
})
