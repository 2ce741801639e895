// A chosen billing day: `billing_anchor` says what the periods of an EXACT subscription count from.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addPeriod,
  dateParts,
  lastDayOfMonth,
  localDateOf,
  type PeriodLength,
  startOfLocalDay,
  type Zone,
  zoneOf,
} from '../../../../shared/billing/periods.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { type Example, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import { type InvoiceWindow, invoiceWindows } from './windows.ts'

const anchored = (start: string, billing_anchor: string | null, more: Partial<Example> = {}) => {
  const subscription = { billing_time: 'EXACT' as const, billing_anchor, ...more.subscription }
  return exampleInputs({ start, items: [recurring('100')], ...more, subscription })
}
const take = (inputs: ReturnType<typeof exampleInputs>, count: number): InvoiceWindow[] => {
  const taken: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) {
    taken.push(window)
    if (taken.length === count) break
  }
  return taken
}
const cutsOf = (inputs: ReturnType<typeof exampleInputs>, count: number): string[] =>
  take(inputs, count).map(({ cutoffAt }) => formatInstant(cutoffAt))

describe('worked examples', () => {
  test('a month that starts on 11 March and is billed on the 15th: 4 of 28 days, then whole months', () => {
    const [stub, whole] = exampleInvoices(anchored('2026-03-11T00:00:00Z', '2026-01-15T00:00:00Z'), 2)
    expect(linesOf(stub)).toEqual(['2026-03-11..2026-03-15 14.29'])
    expect(stub?.content.periods[0]?.groups[0]?.lines[0]?.details.proration).toEqual({ covered_days: 4, days: 28 })
    expect(linesOf(whole)).toEqual(['2026-03-15..2026-04-15 100.00'])
    expect(whole?.cutoff_at).toBe('2026-04-15T00:00:00Z')
  })

  test('in advance the stub is billed on the first day, and the next whole month on the billing day', () => {
    const items = [recurring('100', { billing_in_advance: true })]
    const invoices = exampleInvoices(anchored('2026-03-11T00:00:00Z', '2026-01-15T00:00:00Z', { items }), 3)
    expect(invoices.map(linesOf)).toEqual([
      ['2026-03-11..2026-03-15 14.29'],
      ['2026-03-15..2026-04-15 100.00'],
      ['2026-04-15..2026-05-15 100.00'],
    ])
  })

  test.each([
    ['the 31st', '2026-01-31T00:00:00Z', ['02-28', '03-31', '04-30', '05-31']],
    ['the 30th', '2026-01-30T00:00:00Z', ['02-28', '03-30', '04-30', '05-30']],
    ['the 29th, from a leap year', '2024-02-29T00:00:00Z', ['02-28', '03-29', '04-29', '05-29']],
    ['a day after the start', '2026-12-31T00:00:00Z', ['02-28', '03-31', '04-30', '05-31']],
    ['the first of the month', '2026-06-01T00:00:00Z', ['03-01', '04-01', '05-01', '06-01']],
  ])('%s never drifts', (_name, anchor, days) => {
    const cuts = cutsOf(anchored('2026-02-10T00:00:00Z', anchor), 5)
    expect(cuts.map(cut => cut.slice(5, 10))).toEqual(['02-10', ...days])
  })

  test('the day is that of the zone, and cuts stay at its midnights when clocks change', () => {
    const inputs = anchored('2026-02-10T00:00:00Z', '2026-01-14T23:30:00Z')
    const amsterdam = { ...inputs, customer: { ...inputs.customer, timezone: 'Europe/Amsterdam' } }
    expect(cutsOf(amsterdam, 4)).toEqual([
      '2026-02-10T00:00:00Z',
      '2026-02-14T23:00:00Z',
      '2026-03-14T23:00:00Z',
      '2026-04-14T22:00:00Z',
    ])
    expect(cutsOf(inputs, 2)).toEqual(['2026-02-10T00:00:00Z', '2026-02-14T00:00:00Z'])
  })

  test('a day whose midnight the zone skips is cut when it begins', () => {
    // In Santiago clocks went from 24:00 on Saturday, 5 September 2026, to 01:00.
    const inputs = anchored('2026-08-01T12:00:00Z', '2026-08-06T12:00:00Z')
    const santiago = { ...inputs, customer: { ...inputs.customer, timezone: 'America/Santiago' } }
    const cuts = cutsOf(santiago, 3)
    const zone = zoneOf('America/Santiago') as Zone
    expect(cuts[2]).toBe(formatInstant(startOfLocalDay('2026-09-06' as never, zone)))
    expect(localDateOf(instantOf(Date.parse(cuts[2] ?? '')), zone)).toBe('2026-09-06')
  })

  test('a quarter and a year count from the same day', () => {
    const of = (billing_period: PeriodLength) =>
      cutsOf(anchored('2026-02-10T00:00:00Z', '2025-11-30T00:00:00Z', { subscription: { billing_period } }), 3)
    expect(of({ type: 'MONTH', value: 3 }).map(cut => cut.slice(0, 10))).toEqual([
      '2026-02-10',
      '2026-02-28',
      '2026-05-30',
    ])
    expect(of({ type: 'YEAR', value: 1 }).map(cut => cut.slice(0, 10))).toEqual([
      '2026-02-10',
      '2026-11-30',
      '2027-11-30',
    ])
    expect(of({ type: 'WEEK', value: 1 }).map(cut => cut.slice(0, 10))).toEqual([
      '2026-02-10',
      '2026-02-15',
      '2026-02-22',
    ])
  })

  test('a second schedule is cut on the same day', () => {
    const base = anchored('2026-02-10T00:00:00Z', '2026-01-15T00:00:00Z')
    const [first] = base.schedules
    if (!first) throw new Error('there is a schedule')
    const changed = '2026-03-20T00:00:00Z'
    const schedules = [
      { ...first, end_at: changed },
      { ...first, id: 'schedule1', start_at: changed },
    ]
    expect(cutsOf({ ...base, schedules }, 4)).toEqual(cutsOf(base, 4))
  })
})

const zones = [
  'UTC',
  'Europe/Amsterdam',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/Santiago',
]
const day = (from: string, to: string) =>
  fc
    .integer({ min: Date.parse(from) / 3_600_000, max: Date.parse(to) / 3_600_000 })
    .map(hour => instantOf(hour * 3_600_000))
const lengths = fc.record({
  type: fc.constantFrom('DAY' as const, 'WEEK' as const, 'MONTH' as const, 'YEAR' as const),
  value: fc.integer({ min: 1, max: 5 }),
})

describe('whatever the start, the anchor, the period and the zone', () => {
  test('invoices follow each other without gap or overlap, cut on the anchor’s day counted in whole periods', () => {
    fc.assert(
      fc.property(
        fc.record({
          start: day('2024-01-01', '2027-12-31'),
          anchor: day('2022-01-01', '2030-12-31'),
          length: lengths,
          zone: fc.constantFrom(...zones),
        }),
        ({ start, anchor, length, zone }) => {
          const inputs = anchored(formatInstant(start), formatInstant(anchor), {
            subscription: { billing_period: length },
          })
          const local = { ...inputs, customer: { ...inputs.customer, timezone: zone } }
          const named = zoneOf(zone) as Zone
          const windows = take(local, 8)
          expect(windows[0]?.cutoffAt).toBe(start)
          for (const [index, { cutoffAt, arrears, advance }] of windows.entries()) {
            if (index > 0) expect(arrears?.end).toBe(cutoffAt)
            expect(advance?.start).toBe(cutoffAt)
            expect(windows[index + 1]?.cutoffAt ?? advance?.end).toBe(advance?.end)
          }
          const origin = localDateOf(anchor, named)
          for (const { cutoffAt } of windows.slice(1)) {
            const cut = localDateOf(cutoffAt, named)
            expect(cutoffAt).toBe(startOfLocalDay(cut, named))
            expect(timesBetween(origin, cut, length)).not.toBeNull()
            if (length.type === 'MONTH' || length.type === 'YEAR')
              expect(dateParts(cut).day).toBe(Math.min(dateParts(origin).day, dateParts(lastDayOfMonth(cut)).day))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('an anchor that is a cut already changes nothing', () => {
    fc.assert(
      fc.property(
        fc.record({
          start: day('2024-01-01', '2027-12-31'),
          length: lengths,
          zone: fc.constantFrom(...zones),
          times: fc.integer({ min: 0, max: 6 }),
        }),
        ({ start, length, zone, times }) => {
          const named = zoneOf(zone) as Zone
          const first = localDateOf(start, named)
          // From a day that a month may lack, no later cut tells which day was meant.
          fc.pre(dateParts(first).day <= 28)
          const anchor = startOfLocalDay(addPeriod(first, length, times), named)
          const of = (billing_anchor: string | null) => {
            const inputs = anchored(formatInstant(start), billing_anchor, { subscription: { billing_period: length } })
            return cutsOf({ ...inputs, customer: { ...inputs.customer, timezone: zone } }, 6)
          }
          expect(of(formatInstant(anchor))).toEqual(of(null))
        },
      ),
      { numRuns: 200 },
    )
  })
})

/** How many whole periods `to` is from `from`, on either side; null when it is none. */
function timesBetween(
  from: ReturnType<typeof localDateOf>,
  to: ReturnType<typeof localDateOf>,
  length: PeriodLength,
): number | null {
  for (let times = 0; Math.abs(times) < 5_000; times = to > from ? times + 1 : times - 1) {
    const there = addPeriod(from, length, times)
    if (there === to) return times
    if (to > from ? there > to : there < to) return null
  }
  return null
}
