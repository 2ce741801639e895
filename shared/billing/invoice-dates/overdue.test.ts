import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays, type LocalDate, localDate } from '../local-days.ts'
import { addPeriod, PERIOD_TYPES, type PeriodLength } from '../periods.ts'
import { daysOverdue, isOverdueBy } from './overdue.ts'

const day = (text: string): LocalDate => localDate(text) as LocalDate
const length = (type: PeriodLength['type'], value: number): PeriodLength => ({ type, value })

test.each<[due: string, period: PeriodLength, asMuch: string, more: string]>([
  ['2026-03-01', length('DAY', 14), '2026-03-15', '2026-03-16'],
  ['2026-01-31', length('MONTH', 1), '2026-02-28', '2026-03-01'],
  ['2026-12-30', length('WEEK', 1), '2027-01-06', '2027-01-07'],
  ['2028-02-29', length('YEAR', 1), '2029-02-28', '2029-03-01'],
])('due %s: late by %o from %s, by more from %s', (due, period, asMuch, more) => {
  const late = (today: string, orAsMuch: boolean) => isOverdueBy(period, { due: day(due), today: day(today), orAsMuch })
  expect([late(asMuch, true), late(asMuch, false), late(more, false)]).toEqual([true, false, true])
  expect(isOverdueBy(period, { due: day(due), today: addDays(day(asMuch), -1), orAsMuch: true })).toBe(false)
})

const days = fc.integer({ min: 0, max: 40_000 }).map(offset => addDays(day('2000-01-01'), offset))
const periods = fc.record({ type: fc.constantFrom(...PERIOD_TYPES), value: fc.integer({ min: 1, max: 60 }) })

test('"more than" starts a day after "at least", lateness never ends, and a day past the due date is a day late', () => {
  fc.assert(
    fc.property(days, periods, fc.integer({ min: -100, max: 3_000 }), (due, period, offset) => {
      const today = addDays(due, offset)
      const late = (at: LocalDate, orAsMuch: boolean) => isOverdueBy(period, { due, today: at, orAsMuch })
      expect(late(today, false)).toBe(late(addDays(today, -1), true))
      if (late(today, false)) expect(late(addDays(today, 1), false)).toBe(true)
      expect(late(addPeriod(due, period), true)).toBe(true)
      expect(daysOverdue(due, today)).toBe(Math.max(0, offset))
    }),
  )
})
