// Periods and their prorated amounts, worked out apart from the code with a calendar and fractions (semantics 4.4): month ends, leap
// years, anchors on the 29th to 31st, quarters and years, weeks, changes of the clocks, first and last parts, prices for other periods.
import { expect, test } from 'vitest'
import type { BillingTime, PeriodLength } from '../../../../shared/billing/periods.ts'
import { exampleInputs, exampleInvoices, linesOf, recurring } from './example-inputs.ts'

type Case = {
  readonly start: string
  readonly end?: string
  readonly anchor?: string
  readonly zone?: string
  readonly time?: BillingTime
  /** The billing period, and the period that the fee is for when that is another. */
  readonly every: string
  readonly priced?: string
  readonly inAdvance?: boolean
  readonly fee: string
}

const CASES: readonly (readonly [string, Case, readonly string[]])[] = [
  [
    'monthly from 2026-01-29, never drifting',
    { start: '2026-01-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-01-29..2026-02-28 100.00',
      '2026-02-28..2026-03-29 100.00',
      '2026-03-29..2026-04-29 100.00',
      '2026-04-29..2026-05-29 100.00',
      '2026-05-29..2026-06-29 100.00',
    ],
  ],
  [
    'monthly from 2026-01-30, never drifting',
    { start: '2026-01-30T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-01-30..2026-02-28 100.00',
      '2026-02-28..2026-03-30 100.00',
      '2026-03-30..2026-04-30 100.00',
      '2026-04-30..2026-05-30 100.00',
      '2026-05-30..2026-06-30 100.00',
    ],
  ],
  [
    'monthly from 2026-01-31, never drifting',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-01-31..2026-02-28 100.00',
      '2026-02-28..2026-03-31 100.00',
      '2026-03-31..2026-04-30 100.00',
      '2026-04-30..2026-05-31 100.00',
      '2026-05-31..2026-06-30 100.00',
    ],
  ],
  [
    'monthly from 2024-01-29, never drifting',
    { start: '2024-01-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2024-01-29..2024-02-29 100.00',
      '2024-02-29..2024-03-29 100.00',
      '2024-03-29..2024-04-29 100.00',
      '2024-04-29..2024-05-29 100.00',
      '2024-05-29..2024-06-29 100.00',
    ],
  ],
  [
    'monthly from 2024-01-30, never drifting',
    { start: '2024-01-30T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2024-01-30..2024-02-29 100.00',
      '2024-02-29..2024-03-30 100.00',
      '2024-03-30..2024-04-30 100.00',
      '2024-04-30..2024-05-30 100.00',
      '2024-05-30..2024-06-30 100.00',
    ],
  ],
  [
    'monthly from 2024-01-31, never drifting',
    { start: '2024-01-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2024-01-31..2024-02-29 100.00',
      '2024-02-29..2024-03-31 100.00',
      '2024-03-31..2024-04-30 100.00',
      '2024-04-30..2024-05-31 100.00',
      '2024-05-31..2024-06-30 100.00',
    ],
  ],
  [
    'monthly from 2026-08-31, never drifting',
    { start: '2026-08-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-08-31..2026-09-30 100.00',
      '2026-09-30..2026-10-31 100.00',
      '2026-10-31..2026-11-30 100.00',
      '2026-11-30..2026-12-31 100.00',
      '2026-12-31..2027-01-31 100.00',
    ],
  ],
  [
    'monthly from 2026-10-31, never drifting',
    { start: '2026-10-31T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2026-10-31..2026-11-30 100.00',
      '2026-11-30..2026-12-31 100.00',
      '2026-12-31..2027-01-31 100.00',
      '2027-01-31..2027-02-28 100.00',
      '2027-02-28..2027-03-31 100.00',
    ],
  ],
  [
    'monthly from a leap day',
    { start: '2024-02-29T00:00:00Z', every: 'MONTH 1', fee: '100' },
    [
      '2024-02-29..2024-03-29 100.00',
      '2024-03-29..2024-04-29 100.00',
      '2024-04-29..2024-05-29 100.00',
      '2024-05-29..2024-06-29 100.00',
      '2024-06-29..2024-07-29 100.00',
    ],
  ],
  [
    'yearly from a leap day: the 28th, and the 29th again after four years',
    { start: '2024-02-29T00:00:00Z', every: 'YEAR 1', fee: '1200' },
    [
      '2024-02-29..2025-02-28 1200.00',
      '2025-02-28..2026-02-28 1200.00',
      '2026-02-28..2027-02-28 1200.00',
      '2027-02-28..2028-02-29 1200.00',
      '2028-02-29..2029-02-28 1200.00',
    ],
  ],
  [
    'quarterly from 30 November, over a short and a leap February',
    { start: '2023-11-30T00:00:00Z', every: 'MONTH 3', fee: '300' },
    [
      '2023-11-30..2024-02-29 300.00',
      '2024-02-29..2024-05-30 300.00',
      '2024-05-30..2024-08-30 300.00',
      '2024-08-30..2024-11-30 300.00',
    ],
  ],
  [
    'half-yearly from 31 August',
    { start: '2026-08-31T00:00:00Z', every: 'MONTH 6', fee: '600' },
    [
      '2026-08-31..2027-02-28 600.00',
      '2027-02-28..2027-08-31 600.00',
      '2027-08-31..2028-02-29 600.00',
      '2028-02-29..2028-08-31 600.00',
    ],
  ],
  [
    'every two months from 31 December',
    { start: '2026-12-31T00:00:00Z', every: 'MONTH 2', fee: '200' },
    [
      '2026-12-31..2027-02-28 200.00',
      '2027-02-28..2027-04-30 200.00',
      '2027-04-30..2027-06-30 200.00',
      '2027-06-30..2027-08-31 200.00',
    ],
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
    ['2026-03-01..2026-04-01 100.00', '2026-04-01..2026-05-01 100.00', '2026-05-01..2026-06-01 100.00'],
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
    ['2026-03-11..2026-03-18 70.00', '2026-03-18..2026-03-25 70.00', '2026-03-25..2026-04-01 70.00'],
  ],
  [
    'two weeks over new year',
    { start: '2026-12-23T00:00:00Z', every: 'WEEK 2', fee: '140' },
    ['2026-12-23..2027-01-06 140.00', '2027-01-06..2027-01-20 140.00', '2027-01-20..2027-02-03 140.00'],
  ],
  [
    'days',
    { start: '2026-02-27T00:00:00Z', every: 'DAY 1', fee: '10' },
    [
      '2026-02-27..2026-02-28 10.00',
      '2026-02-28..2026-03-01 10.00',
      '2026-03-01..2026-03-02 10.00',
      '2026-03-02..2026-03-03 10.00',
    ],
  ],
  [
    '30 days',
    { start: '2026-01-31T00:00:00Z', every: 'DAY 30', fee: '100' },
    [
      '2026-01-31..2026-03-02 100.00',
      '2026-03-02..2026-04-01 100.00',
      '2026-04-01..2026-05-01 100.00',
      '2026-05-01..2026-05-31 100.00',
    ],
  ],
  [
    'calendar months over clock changes in Europe/Amsterdam',
    { start: '2026-03-07T23:00:00Z', zone: 'Europe/Amsterdam', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-07..2026-03-31 240.00', '2026-03-31..2026-04-30 310.00', '2026-04-30..2026-05-31 310.00'],
  ],
  [
    'weeks over clock changes in Europe/Amsterdam',
    {
      start: '2026-10-20T22:00:00Z',
      end: '2026-11-05T23:00:00Z',
      zone: 'Europe/Amsterdam',
      every: 'WEEK 1',
      fee: '70',
    },
    ['2026-10-20..2026-10-27 70.00', '2026-10-27..2026-11-03 70.00', '2026-11-03..2026-11-05 20.00'],
  ],
  [
    'calendar months over clock changes in America/New_York',
    { start: '2026-03-08T05:00:00Z', zone: 'America/New_York', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-08..2026-04-01 240.00', '2026-04-01..2026-05-01 310.00', '2026-05-01..2026-06-01 310.00'],
  ],
  [
    'weeks over clock changes in America/New_York',
    {
      start: '2026-10-21T04:00:00Z',
      end: '2026-11-06T05:00:00Z',
      zone: 'America/New_York',
      every: 'WEEK 1',
      fee: '70',
    },
    ['2026-10-21..2026-10-28 70.00', '2026-10-28..2026-11-04 70.00', '2026-11-04..2026-11-06 20.00'],
  ],
  [
    'calendar months over clock changes in Australia/Sydney',
    { start: '2026-03-07T13:00:00Z', zone: 'Australia/Sydney', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-07..2026-03-31 240.00', '2026-03-31..2026-04-30 310.00', '2026-04-30..2026-05-31 310.00'],
  ],
  [
    'weeks over clock changes in Australia/Sydney',
    {
      start: '2026-10-20T13:00:00Z',
      end: '2026-11-05T13:00:00Z',
      zone: 'Australia/Sydney',
      every: 'WEEK 1',
      fee: '70',
    },
    ['2026-10-20..2026-10-27 70.00', '2026-10-27..2026-11-03 70.00', '2026-11-03..2026-11-05 20.00'],
  ],
  [
    'calendar months over clock changes in Asia/Kolkata',
    { start: '2026-03-07T18:30:00Z', zone: 'Asia/Kolkata', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-07..2026-03-31 240.00', '2026-03-31..2026-04-30 310.00', '2026-04-30..2026-05-31 310.00'],
  ],
  [
    'weeks over clock changes in Asia/Kolkata',
    { start: '2026-10-20T18:30:00Z', end: '2026-11-05T18:30:00Z', zone: 'Asia/Kolkata', every: 'WEEK 1', fee: '70' },
    ['2026-10-20..2026-10-27 70.00', '2026-10-27..2026-11-03 70.00', '2026-11-03..2026-11-05 20.00'],
  ],
  [
    'calendar months over clock changes in Pacific/Auckland',
    { start: '2026-03-07T11:00:00Z', zone: 'Pacific/Auckland', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-07..2026-03-31 240.00', '2026-03-31..2026-04-30 310.00', '2026-04-30..2026-05-31 310.00'],
  ],
  [
    'weeks over clock changes in Pacific/Auckland',
    {
      start: '2026-10-20T11:00:00Z',
      end: '2026-11-05T11:00:00Z',
      zone: 'Pacific/Auckland',
      every: 'WEEK 1',
      fee: '70',
    },
    ['2026-10-20..2026-10-27 70.00', '2026-10-27..2026-11-03 70.00', '2026-11-03..2026-11-05 20.00'],
  ],
  [
    'calendar months over clock changes in America/Sao_Paulo',
    { start: '2026-03-08T03:00:00Z', zone: 'America/Sao_Paulo', time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
    ['2026-03-08..2026-04-01 240.00', '2026-04-01..2026-05-01 310.00', '2026-05-01..2026-06-01 310.00'],
  ],
  [
    'weeks over clock changes in America/Sao_Paulo',
    {
      start: '2026-10-21T03:00:00Z',
      end: '2026-11-06T03:00:00Z',
      zone: 'America/Sao_Paulo',
      every: 'WEEK 1',
      fee: '70',
    },
    ['2026-10-21..2026-10-28 70.00', '2026-10-28..2026-11-04 70.00', '2026-11-04..2026-11-06 20.00'],
  ],
  [
    'the day of 23 hours is a day',
    { start: '2026-03-28T23:00:00Z', zone: 'Europe/Amsterdam', every: 'DAY 1', fee: '10' },
    ['2026-03-28..2026-03-29 10.00', '2026-03-29..2026-03-30 10.00'],
  ],
  [
    'the day of 25 hours is a day',
    { start: '2026-10-24T22:00:00Z', zone: 'Europe/Amsterdam', every: 'DAY 1', fee: '10' },
    ['2026-10-24..2026-10-25 10.00', '2026-10-25..2026-10-26 10.00'],
  ],
  [
    'a monthly price on a quarter',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 3', priced: 'MONTH 1', fee: '150' },
    ['2026-01-31..2026-04-30 450.00', '2026-04-30..2026-07-31 450.00', '2026-07-31..2026-10-31 450.00'],
  ],
  [
    'a monthly price on a first part of a quarter',
    { start: '2026-02-11T00:00:00Z', time: 'CALENDAR', every: 'MONTH 3', priced: 'MONTH 1', fee: '100' },
    ['2026-02-11..2026-04-01 163.33', '2026-04-01..2026-07-01 300.00'],
  ],
  [
    'a yearly price on months',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 1', priced: 'YEAR 1', fee: '1200' },
    ['2026-01-31..2026-02-28 100.00', '2026-02-28..2026-03-31 100.00', '2026-03-31..2026-04-30 100.00'],
  ],
  [
    'a yearly price on quarters, ended within',
    { start: '2026-01-15T00:00:00Z', end: '2026-05-01T00:00:00Z', every: 'MONTH 3', priced: 'YEAR 1', fee: '1200' },
    ['2026-01-15..2026-04-15 300.00', '2026-04-15..2026-05-01 52.75'],
  ],
  [
    'a quarterly price on months',
    { start: '2026-01-30T00:00:00Z', every: 'MONTH 1', priced: 'MONTH 3', fee: '300' },
    ['2026-01-30..2026-02-28 100.00', '2026-02-28..2026-03-30 100.00', '2026-03-30..2026-04-30 100.00'],
  ],
  [
    'a weekly price on months',
    { start: '2026-01-01T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', priced: 'WEEK 1', fee: '10' },
    ['2026-01-01..2026-02-01 44.29', '2026-02-01..2026-03-01 40.00', '2026-03-01..2026-04-01 44.29'],
  ],
  [
    'a daily price on a leap February',
    { start: '2024-02-01T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', priced: 'DAY 1', fee: '1' },
    ['2024-02-01..2024-03-01 29.00', '2024-03-01..2024-04-01 31.00'],
  ],
  [
    'a monthly price on weeks that cross months',
    { start: '2026-01-28T00:00:00Z', time: 'CALENDAR', every: 'WEEK 1', priced: 'MONTH 1', fee: '310' },
    ['2026-01-28..2026-02-02 50.77', '2026-02-02..2026-02-09 77.50'],
  ],
  [
    'in advance, anchor on the 31st',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 1', inAdvance: true, fee: '100' },
    [
      '2026-01-31..2026-02-28 100.00',
      '2026-02-28..2026-03-31 100.00',
      '2026-03-31..2026-04-30 100.00',
      '2026-04-30..2026-05-31 100.00',
    ],
  ],
  [
    'in advance, calendar, first part',
    { start: '2026-03-11T00:00:00Z', time: 'CALENDAR', every: 'MONTH 1', inAdvance: true, fee: '100' },
    ['2026-03-11..2026-04-01 67.74', '2026-04-01..2026-05-01 100.00', '2026-05-01..2026-06-01 100.00'],
  ],
  [
    'in advance, ended within a month',
    {
      start: '2026-03-11T00:00:00Z',
      end: '2026-05-16T00:00:00Z',
      time: 'CALENDAR',
      every: 'MONTH 1',
      inAdvance: true,
      fee: '100',
    },
    ['2026-03-11..2026-04-01 67.74', '2026-04-01..2026-05-01 100.00', '2026-05-01..2026-05-16 48.39'],
  ],
  [
    'in advance, yearly from a leap day',
    { start: '2024-02-29T00:00:00Z', every: 'YEAR 1', inAdvance: true, fee: '1200' },
    ['2024-02-29..2025-02-28 1200.00', '2025-02-28..2026-02-28 1200.00', '2026-02-28..2027-02-28 1200.00'],
  ],
  [
    'in advance, weekly, in a zone',
    { start: '2026-03-23T23:00:00Z', zone: 'Europe/Amsterdam', every: 'WEEK 1', inAdvance: true, fee: '70' },
    ['2026-03-23..2026-03-30 70.00', '2026-03-30..2026-04-06 70.00', '2026-04-06..2026-04-13 70.00'],
  ],
]

const lengthOf = (text: string): PeriodLength => {
  const [type, value] = text.split(' ')
  return { type, value: Number(value) } as PeriodLength
}

test.each(CASES)('%s', (_title, { start, end, anchor, zone, time, every, priced, inAdvance, fee }, lines) => {
  const inputs = exampleInputs({
    start,
    ...(end === undefined ? {} : { end }),
    items: [
      recurring(fee, {
        billing_in_advance: inAdvance ?? false,
        ...(priced === undefined ? {} : { pricing_period: lengthOf(priced) }),
      }),
    ],
    subscription: { billing_period: lengthOf(every), billing_time: time ?? 'EXACT', billing_anchor: anchor ?? null },
  })
  const zoned = { ...inputs, customer: { ...inputs.customer, timezone: zone ?? null } }
  expect(exampleInvoices(zoned, lines.length).flatMap(linesOf)).toEqual(lines)
})
