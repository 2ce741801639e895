// Periods and their prorated amounts, worked out apart from the code with a calendar and fractions (semantics 4.4): month ends, leap
// years, anchors on the 29th to 31st, quarters and years, and weeks.
import { inTurn, testPeriods } from './period-cases.ts'

testPeriods([
  [
    'monthly from 2026-01-29, never drifting',
    { start: '2026-01-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-01-29', '2026-02-28', '2026-03-29', '2026-04-29', '2026-05-29', '2026-06-29'),
  ],
  [
    'monthly from 2026-01-30, never drifting',
    { start: '2026-01-30T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-01-30', '2026-02-28', '2026-03-30', '2026-04-30', '2026-05-30', '2026-06-30'),
  ],
  [
    'monthly from 2026-01-31, never drifting',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'),
  ],
  [
    'monthly from 2024-01-29, never drifting',
    { start: '2024-01-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2024-01-29', '2024-02-29', '2024-03-29', '2024-04-29', '2024-05-29', '2024-06-29'),
  ],
  [
    'monthly from 2024-01-30, never drifting',
    { start: '2024-01-30T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2024-01-30', '2024-02-29', '2024-03-30', '2024-04-30', '2024-05-30', '2024-06-30'),
  ],
  [
    'monthly from 2024-01-31, never drifting',
    { start: '2024-01-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30', '2024-05-31', '2024-06-30'),
  ],
  [
    'monthly from 2026-08-31, never drifting',
    { start: '2026-08-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-08-31', '2026-09-30', '2026-10-31', '2026-11-30', '2026-12-31', '2027-01-31'),
  ],
  [
    'monthly from 2026-10-31, never drifting',
    { start: '2026-10-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-10-31', '2026-11-30', '2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31'),
  ],
  [
    'monthly from a leap day',
    { start: '2024-02-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2024-02-29', '2024-03-29', '2024-04-29', '2024-05-29', '2024-06-29', '2024-07-29'),
  ],
  [
    'yearly from a leap day: the 28th, and the 29th again after four years',
    { start: '2024-02-29T00:00:00Z', every: 'YEAR 1', fee: '1200' },
    inTurn('1200.00', '2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29', '2029-02-28'),
  ],
  [
    'quarterly from 30 November, over a short and a leap February',
    { start: '2023-11-30T00:00:00Z', every: 'MONTH 3', fee: '300' },
    inTurn('300.00', '2023-11-30', '2024-02-29', '2024-05-30', '2024-08-30', '2024-11-30'),
  ],
  [
    'half-yearly from 31 August',
    { start: '2026-08-31T00:00:00Z', every: 'MONTH 6', fee: '600' },
    inTurn('600.00', '2026-08-31', '2027-02-28', '2027-08-31', '2028-02-29', '2028-08-31'),
  ],
  [
    'every two months from 31 December',
    { start: '2026-12-31T00:00:00Z', every: 'MONTH 2', fee: '200' },
    inTurn('200.00', '2026-12-31', '2027-02-28', '2027-04-30', '2027-06-30', '2027-08-31'),
  ],
  [
    'anchor on the 31st, start in February: a first part',
    { start: '2026-02-10T00:00:00Z', anchor: '2026-01-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-02-10..2026-02-28 64.29',
      '2026-02-28..2026-03-31 100.00',
      '2026-03-31..2026-04-30 100.00',
      '2026-04-30..2026-05-31 100.00',
    ],
  ],
  [
    'anchor on the 15th, start on the 20th',
    { start: '2026-01-20T00:00:00Z', anchor: '2026-01-15T00:00:00Z', every: 'MONTH 1', fee: '100' },
    ['2026-01-20..2026-02-15 83.87', '2026-02-15..2026-03-15 100.00', '2026-03-15..2026-04-15 100.00'],
  ],
  [
    'anchor on the 15th, after the start',
    { start: '2026-01-10T00:00:00Z', anchor: '2026-01-15T00:00:00Z', every: 'MONTH 1', fee: '100' },
    ['2026-01-10..2026-01-15 16.13', '2026-01-15..2026-02-15 100.00', '2026-02-15..2026-03-15 100.00'],
  ],
  [
    'anchor on the 30th, ended in February',
    { start: '2026-01-30T00:00:00Z', end: '2026-02-20T00:00:00Z', every: 'MONTH 1', fee: '100' },
    ['2026-01-30..2026-02-20 72.41'],
  ],
  [
    'yearly, anchor on 1 April, start in January',
    { start: '2026-01-10T00:00:00Z', anchor: '2026-04-01T00:00:00Z', every: 'YEAR 1', fee: '365' },
    ['2026-01-10..2026-04-01 81.00', '2026-04-01..2027-04-01 365.00', '2027-04-01..2028-04-01 365.00'],
  ],
  [
    'quarterly, anchor on 15 February, start on 1 March',
    { start: '2026-03-01T00:00:00Z', anchor: '2026-02-15T00:00:00Z', every: 'MONTH 3', fee: '300' },
    ['2026-03-01..2026-05-15 252.81', '2026-05-15..2026-08-15 300.00', '2026-08-15..2026-11-15 300.00'],
  ],
  [
    'calendar months from the 15th of a short month',
    { start: '2026-02-15T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', fee: '100' },
    ['2026-02-15..2026-03-01 50.00', '2026-03-01..2026-04-01 100.00', '2026-04-01..2026-05-01 100.00'],
  ],
  [
    'calendar months from the 15th of a leap month',
    { start: '2024-02-15T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', fee: '100' },
    ['2024-02-15..2024-03-01 51.72', '2024-03-01..2024-04-01 100.00', '2024-04-01..2024-05-01 100.00'],
  ],
  [
    'calendar months from the last day',
    { start: '2026-01-31T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', fee: '100' },
    ['2026-01-31..2026-02-01 3.23', '2026-02-01..2026-03-01 100.00', '2026-03-01..2026-04-01 100.00'],
  ],
  [
    'calendar months from the first day: all whole',
    { start: '2026-03-01T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', fee: '100' },
    inTurn('100.00', '2026-03-01', '2026-04-01', '2026-05-01', '2026-06-01'),
  ],
  [
    'calendar month started and ended within',
    { start: '2026-03-11T00:00:00Z', end: '2026-03-21T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', fee: '100' },
    ['2026-03-11..2026-03-21 32.26'],
  ],
  [
    'calendar quarter of 91 days',
    { start: '2026-04-02T00:00:00Z', time: 'CALENDAR', every: 'MONTH 3', fee: '300' },
    ['2026-04-02..2026-07-01 296.70', '2026-07-01..2026-10-01 300.00', '2026-10-01..2027-01-01 300.00'],
  ],
  [
    'calendar half-year',
    { start: '2026-02-11T00:00:00Z', time: 'CALENDAR', every: 'MONTH 6', fee: '600' },
    ['2026-02-11..2026-07-01 464.09', '2026-07-01..2027-01-01 600.00', '2027-01-01..2027-07-01 600.00'],
  ],
  [
    'calendar year of 366 days',
    { start: '2024-03-01T00:00:00Z', time: 'CALENDAR', every: 'YEAR 1', fee: '366' },
    ['2024-03-01..2025-01-01 306.00', '2025-01-01..2026-01-01 366.00', '2026-01-01..2027-01-01 366.00'],
  ],
  [
    'calendar year of 365 days',
    { start: '2026-03-01T00:00:00Z', time: 'CALENDAR', every: 'YEAR 1', fee: '365' },
    ['2026-03-01..2027-01-01 306.00', '2027-01-01..2028-01-01 365.00', '2028-01-01..2029-01-01 365.00'],
  ],
  [
    'calendar weeks start on Monday',
    { start: '2026-03-11T00:00:00Z', time: 'CALENDAR', every: 'WEEK 1', fee: '70' },
    ['2026-03-11..2026-03-16 50.00', '2026-03-16..2026-03-23 70.00', '2026-03-23..2026-03-30 70.00'],
  ],
  [
    'weeks from a Wednesday',
    { start: '2026-03-11T00:00:00Z', every: 'WEEK 1', fee: '70' },
    inTurn('70.00', '2026-03-11', '2026-03-18', '2026-03-25', '2026-04-01'),
  ],
  [
    'two weeks over new year',
    { start: '2026-12-23T00:00:00Z', every: 'WEEK 2', fee: '140' },
    inTurn('140.00', '2026-12-23', '2027-01-06', '2027-01-20', '2027-02-03'),
  ],
  [
    'days',
    { start: '2026-02-27T00:00:00Z', every: 'DAY 1', fee: '10' },
    inTurn('10.00', '2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'),
  ],
  [
    '30 days',
    { start: '2026-01-31T00:00:00Z', every: 'DAY 30', fee: '100' },
    inTurn('100.00', '2026-01-31', '2026-03-02', '2026-04-01', '2026-05-01', '2026-05-31'),
  ],
])
