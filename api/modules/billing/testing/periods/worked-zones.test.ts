// Periods over changes of the clocks, prices for other periods than the one billed, and prices in advance (semantics 4.4), worked out apart
// from the code with a calendar and fractions.
import { inTurn, type PeriodCase, testPeriods } from './period-cases.ts'

/** By zone: when 8 March, 21 October and 6 November 2026 begin there. East of Greenwich that is the day before in UTC. */
const ZONES = [
  ['Europe/Amsterdam', '2026-03-07T23:00:00Z', '2026-10-20T22:00:00Z', '2026-11-05T23:00:00Z'],
  ['America/New_York', '2026-03-08T05:00:00Z', '2026-10-21T04:00:00Z', '2026-11-06T05:00:00Z'],
  ['Australia/Sydney', '2026-03-07T13:00:00Z', '2026-10-20T13:00:00Z', '2026-11-05T13:00:00Z'],
  ['Asia/Kolkata', '2026-03-07T18:30:00Z', '2026-10-20T18:30:00Z', '2026-11-05T18:30:00Z'],
  ['Pacific/Auckland', '2026-03-07T11:00:00Z', '2026-10-20T11:00:00Z', '2026-11-05T11:00:00Z'],
  ['America/Sao_Paulo', '2026-03-08T03:00:00Z', '2026-10-21T03:00:00Z', '2026-11-06T03:00:00Z'],
] as const
const EAST = {
  months: ['2026-03-07..2026-03-31 240.00', '2026-03-31..2026-04-30 310.00', '2026-04-30..2026-05-31 310.00'],
  weeks: ['2026-10-20..2026-10-27 70.00', '2026-10-27..2026-11-03 70.00', '2026-11-03..2026-11-05 20.00'],
}
const WEST = {
  months: ['2026-03-08..2026-04-01 240.00', '2026-04-01..2026-05-01 310.00', '2026-05-01..2026-06-01 310.00'],
  weeks: ['2026-10-21..2026-10-28 70.00', '2026-10-28..2026-11-04 70.00', '2026-11-04..2026-11-06 20.00'],
}

testPeriods([
  ...ZONES.flatMap(([zone, march, october, end]): PeriodCase[] => {
    const { months, weeks } = zone.startsWith('America/') ? WEST : EAST
    return [
      [
        `calendar months over clock changes in ${zone}`,
        { start: march, zone, time: 'CALENDAR', every: 'MONTH 1', fee: '310' },
        months,
      ],
      [`weeks over clock changes in ${zone}`, { start: october, end, zone, every: 'WEEK 1', fee: '70' }, weeks],
    ]
  }),
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
    inTurn('450.00', '2026-01-31', '2026-04-30', '2026-07-31', '2026-10-31'),
  ],
  [
    'a monthly price on a first part of a quarter',
    { start: '2026-02-11T00:00:00Z', time: 'CALENDAR', every: 'MONTH 3', priced: 'MONTH 1', fee: '100' },
    ['2026-02-11..2026-04-01 163.33', '2026-04-01..2026-07-01 300.00'],
  ],
  [
    'a yearly price on months',
    { start: '2026-01-31T00:00:00Z', every: 'MONTH 1', priced: 'YEAR 1', fee: '1200' },
    inTurn('100.00', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30'),
  ],
  [
    'a yearly price on quarters, ended within',
    { start: '2026-01-15T00:00:00Z', end: '2026-05-01T00:00:00Z', every: 'MONTH 3', priced: 'YEAR 1', fee: '1200' },
    ['2026-01-15..2026-04-15 300.00', '2026-04-15..2026-05-01 52.75'],
  ],
  [
    'a quarterly price on months',
    { start: '2026-01-30T00:00:00Z', every: 'MONTH 1', priced: 'MONTH 3', fee: '300' },
    inTurn('100.00', '2026-01-30', '2026-02-28', '2026-03-30', '2026-04-30'),
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
    inTurn('100.00', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'),
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
    inTurn('1200.00', '2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28'),
  ],
  [
    'in advance, weekly, in a zone',
    { start: '2026-03-23T23:00:00Z', zone: 'Europe/Amsterdam', every: 'WEEK 1', inAdvance: true, fee: '70' },
    inTurn('70.00', '2026-03-23', '2026-03-30', '2026-04-06', '2026-04-13'),
  ],
])
