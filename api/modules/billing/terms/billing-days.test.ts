// The day that the periods of an EXACT subscription count from: `billing_anchor`, and from its start on a schedule that sets a new
// one (semantics 4.3).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dateParts,
  lastDayOfMonth,
  localDateOf,
  startOfLocalDay,
  type Zone,
  zoneOf,
} from '../../../../shared/billing/local-days.ts'
import { addPeriod, type PeriodLength } from '../../../../shared/billing/periods.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { type Example, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import type { BillingInputs, ScheduleInput } from './billing-inputs.ts'
import { type InvoiceWindow, invoiceWindows } from './windows.ts'

const anchored = (start: string, billing_anchor: string | null, more: Partial<Example> = {}) => {
  const subscription = { billing_time: 'EXACT' as const, billing_anchor, ...more.subscription }
  return exampleInputs({ start, items: [recurring('100')], ...more, subscription })
}

type Placed = Pick<ScheduleInput, 'start_at'> & Partial<ScheduleInput>

/** An EXACT subscription of 100 a month, on schedules that follow each other. */
function scheduled(placed: readonly Placed[], more: { ahead?: boolean; anchor?: string } = {}): BillingInputs {
  const items = [recurring('100', { billing_in_advance: more.ahead === true })]
  const schedules = placed.map((each, index) => ({ end_at: placed[index + 1]?.start_at ?? null, ...each }))
  const subscription = { billing_time: 'EXACT' as const, billing_anchor: more.anchor ?? null }
  return exampleInputs({ start: placed[0]?.start_at ?? '', items, schedules, subscription })
}

function take(inputs: BillingInputs, count: number): InvoiceWindow[] {
  const taken: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (taken.push(window) === count) break
  return taken
}
const cutsOf = (inputs: BillingInputs, count: number): string[] =>
  take(inputs, count).map(({ cutoffAt }) => formatInstant(cutoffAt))

describe('billing_anchor', () => {
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

describe('a schedule that sets a new billing day', () => {
  test('the days before the new billing day are prorated, and then months are whole', () => {
    const inputs = scheduled([
      { start_at: '2026-02-01T00:00:00Z' },
      { start_at: '2026-03-20T00:00:00Z', realign: true },
    ])
    expect(exampleInvoices(inputs, 4).map(linesOf)).toEqual([
      ['2026-02-01..2026-03-01 100.00'],
      // 19 of 31 days.
      ['2026-03-01..2026-03-20 61.29'],
      ['2026-03-20..2026-04-20 100.00'],
      ['2026-04-20..2026-05-20 100.00'],
    ])
  })

  test('a trial of fourteen days: the first month that is paid starts when it ends', () => {
    const inputs = scheduled([
      { start_at: '2026-03-11T00:00:00Z', trial: true },
      { start_at: '2026-03-25T00:00:00Z', realign: true },
    ])
    expect(exampleInvoices(inputs, 2).map(linesOf)).toEqual([
      ['2026-03-25..2026-04-25 100.00'],
      ['2026-04-25..2026-05-25 100.00'],
    ])
  })

  test('ahead, the days up to the new day are charged, and on that day a whole month', () => {
    const inputs = scheduled(
      [{ start_at: '2026-02-01T00:00:00Z' }, { start_at: '2026-03-20T00:00:00Z', realign: true }],
      { ahead: true },
    )
    expect(exampleInvoices(inputs, 3).map(linesOf)).toEqual([
      ['2026-02-01..2026-03-01 100.00'],
      ['2026-03-01..2026-03-20 61.29'],
      ['2026-03-20..2026-04-20 100.00'],
    ])
  })

  test('without it a second schedule keeps the billing day', () => {
    const inputs = scheduled([{ start_at: '2026-02-01T00:00:00Z' }, { start_at: '2026-03-20T00:00:00Z' }])
    expect(exampleInvoices(inputs, 3).map(linesOf)).toEqual([
      ['2026-02-01..2026-03-01 100.00'],
      ['2026-03-01..2026-03-20 61.29', '2026-03-20..2026-04-01 38.71'],
      ['2026-04-01..2026-05-01 100.00'],
    ])
  })

  test('a schedule after it keeps its day, and that of the first schedule wins over the billing anchor', () => {
    const cuts = cutsOf(
      scheduled(
        [
          { start_at: '2026-01-10T00:00:00Z', realign: true },
          { start_at: '2026-01-31T00:00:00Z', realign: true },
          { start_at: '2026-03-05T00:00:00Z' },
        ],
        { anchor: '2025-06-20T00:00:00Z' },
      ),
      6,
    ).map(cut => cut.slice(0, 10))
    expect(cuts).toEqual(['2026-01-10', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'])
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
const hour = (from: string, to: string) =>
  fc
    .integer({ min: Date.parse(from) / 3_600_000, max: Date.parse(to) / 3_600_000 })
    .map(each => instantOf(each * 3_600_000))
const lengths = fc.record({
  type: fc.constantFrom('DAY' as const, 'WEEK' as const, 'MONTH' as const, 'YEAR' as const),
  value: fc.integer({ min: 1, max: 5 }),
})

describe('whatever the schedules, the anchor, the period and the zone', () => {
  test('invoices follow each other without gap or overlap, cut on the billing day that holds, counted in whole periods', () => {
    fc.assert(
      fc.property(
        fc.record({
          starts: fc.uniqueArray(hour('2024-01-01', '2026-12-31'), { minLength: 1, maxLength: 5 }),
          realigned: fc.infiniteStream(fc.boolean()),
          anchor: fc.option(hour('2022-01-01', '2030-12-31')),
          length: lengths,
          zone: fc.constantFrom(...zones),
        }),
        ({ starts, realigned, anchor, length, zone }) => {
          const placed = starts
            .toSorted((a, b) => a - b)
            .map((start, index) => {
              const isRealigned = index > 0 && realigned.next().value === true
              return { start_at: formatInstant(start), ...(isRealigned ? { realign: true } : {}) }
            })
          const inputs = scheduled(placed, anchor === null ? {} : { anchor: formatInstant(anchor) })
          const named = zoneOf(zone) as Zone
          const windows = take(
            {
              ...inputs,
              customer: { ...inputs.customer, timezone: zone },
              subscription: { ...inputs.subscription, billing_period: length },
            },
            24,
          )
          // What is cut whatever its day: the start, and each new billing day.
          const set = placed.flatMap(({ start_at, realign }, index) => (realign || index === 0 ? [at(start_at)] : []))
          const first = anchor ?? set[0] ?? instantOf(0)
          expect(windows[0]?.cutoffAt).toBe(set[0])
          for (const [index, { cutoffAt, arrears, advance }] of windows.entries()) {
            if (index > 0) expect(arrears?.end).toBe(cutoffAt)
            expect(advance?.start).toBe(cutoffAt)
            expect(windows[index + 1]?.cutoffAt ?? advance?.end).toBe(advance?.end)
            if (set.includes(cutoffAt)) continue
            const origin = localDateOf(set.slice(1).findLast(each => each < cutoffAt) ?? first, named)
            const cut = localDateOf(cutoffAt, named)
            expect(cutoffAt).toBe(startOfLocalDay(cut, named))
            expect(timesBetween(origin, cut, length)).not.toBeNull()
            if (length.type === 'MONTH' || length.type === 'YEAR')
              expect(dateParts(cut).day).toBe(Math.min(dateParts(origin).day, dateParts(lastDayOfMonth(cut)).day))
          }
          const until = windows.at(-1)?.cutoffAt ?? instantOf(0)
          const cuts = new Set(windows.map(({ cutoffAt }) => cutoffAt))
          expect(set.filter(each => each <= until && !cuts.has(each))).toEqual([])
        },
      ),
      { numRuns: 300 },
    )
  })

  test('an anchor that is a cut already changes nothing', () => {
    fc.assert(
      fc.property(
        fc.record({
          start: hour('2024-01-01', '2027-12-31'),
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
