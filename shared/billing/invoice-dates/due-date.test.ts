import { expect, test } from 'vitest'
import { type LocalDate, localDate } from '../local-days.ts'
import type { PeriodLength } from '../periods.ts'
import { type DueDateConfiguration, dueDate } from './due-date.ts'

const day = (text: string): LocalDate => localDate(text) as LocalDate
const after = (type: PeriodLength['type'], value: number): DueDateConfiguration => ({
  type: 'PERIOD_AFTER_INVOICE_DATE',
  period: { type, value },
})
const endOfMonth = (period: PeriodLength | null): DueDateConfiguration => ({ type: 'END_OF_THE_MONTH', period })

const cases: readonly [string, DueDateConfiguration, string][] = [
  ['2026-01-31', after('MONTH', 1), '2026-02-28'],
  ['2026-01-15', after('DAY', 30), '2026-02-14'],
  ['2026-12-31', after('WEEK', 2), '2027-01-14'],
  ['2028-02-29', after('YEAR', 1), '2029-02-28'],
  ['2026-01-15', { type: 'PERIOD_AFTER_INVOICE_DATE', period: null }, '2026-01-15'],
  ['2026-01-15', endOfMonth({ type: 'DAY', value: 30 }), '2026-02-28'],
  ['2026-01-15', endOfMonth(null), '2026-01-31'],
  ['2028-01-31', endOfMonth({ type: 'MONTH', value: 1 }), '2028-02-29'],
]
test.each(cases)('an invoice of %s with %o is due %s', (date, configuration, expected) => {
  expect(dueDate(configuration, day(date))).toBe(expected)
})
