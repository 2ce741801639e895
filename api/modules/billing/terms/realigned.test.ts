// Schedules that set a new billing day: from their start on the periods of an EXACT subscription count from it (semantics 4.3).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addPeriod,
  localDateOf,
  type PeriodLength,
  startOfLocalDay,
  type Zone,
  zoneOf,
} from '../../../../shared/billing/periods.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'
import type { BillingInputs, ScheduleInput } from './billing-inputs.ts'
import { type InvoiceWindow, invoiceWindows } from './windows.ts'

type Placed = Pick<ScheduleInput, 'start_at'> & Partial<ScheduleInput>

/** An EXACT subscription of 100 a month, on schedules that follow each other. */
function scheduled(placed: readonly Placed[], more: { ahead?: boolean; anchor?: string } = {}): BillingInputs {
  const items = [recurring('100', { billing_in_advance: more.ahead === true })]
  const schedules = placed.map((each, index) => ({ end_at: placed[index + 1]?.start_at ?? null, ...each }))
  const subscription = { billing_time: 'EXACT' as const, billing_anchor: more.anchor ?? null }
  return exampleInputs({ start: placed[0]?.start_at ?? '', items, schedules, subscription })
}

describe('worked examples', () => {
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
    const cuts = take(
      scheduled(
        [
          { start_at: '2026-01-10T00:00:00Z', realign: true },
          { start_at: '2026-01-31T00:00:00Z', realign: true },
          { start_at: '2026-03-05T00:00:00Z' },
        ],
        { anchor: '2025-06-20T00:00:00Z' },
      ),
      6,
    ).map(({ cutoffAt }) => formatInstant(cutoffAt).slice(0, 10))
    expect(cuts).toEqual(['2026-01-10', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'])
  })
})

function take(inputs: BillingInputs, count: number): InvoiceWindow[] {
  const taken: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (taken.push(window) === count) break
  return taken
}

const hour = (from: string, to: string) =>
  fc
    .integer({ min: Date.parse(from) / 3_600_000, max: Date.parse(to) / 3_600_000 })
    .map(each => instantOf(each * 3_600_000))
const lengths = fc.record({
  type: fc.constantFrom('DAY' as const, 'WEEK' as const, 'MONTH' as const, 'YEAR' as const),
  value: fc.integer({ min: 1, max: 5 }),
})

test('whatever the schedules: invoices follow each other, and each is cut on the day of the last new billing day before it', () => {
  fc.assert(
    fc.property(
      fc.record({
        starts: fc.uniqueArray(hour('2024-01-01', '2026-12-31'), { minLength: 1, maxLength: 5 }),
        realigned: fc.infiniteStream(fc.boolean()),
        length: lengths,
        zone: fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/New_York', 'America/Santiago'),
      }),
      ({ starts, realigned, length, zone }) => {
        const ordered = starts.toSorted((a, b) => a - b)
        const placed = ordered.map((start, index) => {
          const isRealigned = index > 0 && realigned.next().value === true
          return { start_at: formatInstant(start), ...(isRealigned ? { realign: true } : {}) }
        })
        const inputs = scheduled(placed)
        const named = zoneOf(zone) as Zone
        const windows = take(
          {
            ...inputs,
            customer: { ...inputs.customer, timezone: zone },
            subscription: { ...inputs.subscription, billing_period: length },
          },
          24,
        )
        const anchors = placed.flatMap(({ start_at, realign }, index) => (realign || index === 0 ? [at(start_at)] : []))
        expect(windows[0]?.cutoffAt).toBe(anchors[0])
        for (const [index, { cutoffAt, arrears, advance }] of windows.entries()) {
          if (index > 0) expect(arrears?.end).toBe(cutoffAt)
          expect(advance?.start).toBe(cutoffAt)
          expect(windows[index + 1]?.cutoffAt ?? advance?.end).toBe(advance?.end)
          if (anchors.includes(cutoffAt)) continue
          const anchor = anchors.findLast(each => each < cutoffAt) ?? instantOf(0)
          expect(isCut(localDateOf(anchor, named), localDateOf(cutoffAt, named), length)).toBe(true)
          expect(cutoffAt).toBe(startOfLocalDay(localDateOf(cutoffAt, named), named))
        }
        const until = windows.at(-1)?.cutoffAt ?? instantOf(0)
        const cuts = new Set(windows.map(({ cutoffAt }) => cutoffAt))
        expect(anchors.filter(anchor => anchor <= until && !cuts.has(anchor))).toEqual([])
      },
    ),
    { numRuns: 200 },
  )
})

/** Whether `day` is a whole number of periods after `origin`. */
function isCut(
  origin: ReturnType<typeof localDateOf>,
  day: ReturnType<typeof localDateOf>,
  length: PeriodLength,
): boolean {
  for (let times = 1; times < 2_000; times += 1) {
    const there = addPeriod(origin, length, times)
    if (there >= day) return there === day
  }
  return false
}
