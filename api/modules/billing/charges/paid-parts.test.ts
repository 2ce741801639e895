// A period that was charged ahead in part, because an end or a pause was known then that later fell away: the rest is
// charged, once, and all parts sum to the rounded whole.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { instantOf, interval, without } from '../../../../shared/time.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type Example, exampleInputs, exampleInvoice, recurring } from '../testing/example-inputs.ts'
import { isPart, type PaidPart, partsIn, segmentsOf, textOfPart } from './paid-parts.ts'

type Inactive = BillingInputs['subscription']['inactive_periods'][number]
/** What is known when an invoice becomes FINAL: how the subscription ends or is paused, and how its schedule ends. */
type Known = { readonly inactive?: readonly Inactive[]; readonly until?: string }

/** The amounts of one invoice after the other, each with what was known by then. */
function bills(items: Example['items'], known: readonly Known[], more: Partial<Example> = {}): string[] {
  const billed = new Set<string>()
  return known.map(({ inactive = [], until }, index) => {
    const inputs = exampleInputs({
      start: '2026-05-01T00:00:00Z',
      items,
      ...more,
      ...(until === undefined ? {} : { end: until }),
      subscription: { ...more.subscription, inactive_periods: inactive },
    })
    const window = [...invoiceWindows(inputs)][index]
    if (!window) throw new Error(`there is no invoice ${index}`)
    const { amount_excluding_tax, advanceCharges } = exampleInvoice(inputs, window, { usage: '0', billed })
    for (const key of advanceCharges) billed.add(key)
    return amount_excluding_tax
  })
}

const cancelled = (day: string): Known => ({ inactive: [{ type: 'CANCEL', start_at: `${day}T14:00:00Z` }] })
const paused = (from: string, to: string): Known => ({
  inactive: [{ type: 'PAUSE', start_at: `${from}T10:00:00Z`, end_at: `${to}T10:00:00Z` }],
})
const runs: Known = {}

const fee = (quantity: string, config: Parameters<typeof recurring>[1] = {}) =>
  recurring(quantity, { billing_in_advance: true, ...config })
const YEARLY = { billing_period: { type: 'YEAR', value: 1 } } as const

describe('a fee ahead is charged for the days that come back', () => {
  test.each<[string, Example['items'], Known[], string[]]>([
    ['after UNDO', [fee('100')], [cancelled('2026-05-20'), runs, runs], ['61.29', '138.71', '100']],
    [
      'and not again where nothing came back',
      [fee('100')],
      [cancelled('2026-05-20'), cancelled('2026-05-20')],
      ['61.29', '0'],
    ],
    [
      'after a cancellation for another day',
      [fee('310')],
      [cancelled('2026-05-11'), cancelled('2026-05-21')],
      ['100', '100'],
    ],
    [
      'after a second UNDO',
      [fee('310')],
      [cancelled('2026-05-11'), cancelled('2026-06-11'), runs],
      ['100', '313.33', '516.67'],
    ],
    ['after resume', [fee('310')], [paused('2026-05-11', '2026-06-06'), runs, runs], ['100', '520', '310']],
    [
      'after resume within the pause',
      [fee('310')],
      [paused('2026-05-11', '2026-05-31'), paused('2026-05-11', '2026-05-21'), runs],
      ['110', '410', '410'],
    ],
    ['where a schedule no longer ends', [fee('310')], [{ until: '2026-05-21T00:00:00Z' }, runs], ['200', '420']],
    [
      'without a part that is paused by then',
      [fee('310')],
      [cancelled('2026-05-11'), paused('2026-05-16', '2026-05-21')],
      ['100', '470'],
    ],
    [
      'three parts sum to the rounded whole',
      [fee('10', YEARLY)],
      [cancelled('2026-06-02'), cancelled('2026-08-03'), runs, runs],
      ['0.88', '1.7', '0', '4.13'],
    ],
    [
      'of a year when they begin, not before',
      [fee('365', YEARLY)],
      [cancelled('2026-07-10'), runs, runs, runs],
      ['70', '0', '175', '0'],
    ],
    [
      'once, for what is charged once',
      [
        {
          item: { model_type: 'ONE_OFF' },
          bands: [{ fixed_amount: { quantity: '50', currency: 'EUR' } }],
          config: { pricing_type: 'FIXED', billing_in_advance: true },
        },
      ],
      [cancelled('2026-05-20'), runs],
      ['50', '0'],
    ],
  ])('%s', (_name, items, known, expected) => {
    expect(bills(items, known)).toEqual(expected)
  })
})

const SEATS = {
  item: { model_type: 'PER_SEAT' as const },
  config: { pricing_type: 'FLAT' as const, billing_in_advance: true },
  bands: [{ amount: { quantity: '62', currency: 'EUR' } }],
}
const minimum = (quantity: string): Partial<Example> => ({
  schedules: [{ commitment: { pricing_item_configs: [{ ids: ['config0'], amount: { quantity, currency: 'EUR' } }] } }],
})
/** Billed with a minimum of 31.00 a month. */
const withMinimum = (known: readonly Known[], inputs: Partial<BillingInputs> = {}): string[] =>
  bills([SEATS], known, { ...minimum('31'), inputs })

test('a minimum of a fee ahead is charged for the days that come back, whatever was charged for others that go', () => {
  const known = [paused('2026-05-11', '2026-05-21'), paused('2026-05-21', '2026-05-31')]
  // 1.00 a day and a minimum of 1.50 a day: ten days come back. June is paid whole.
  expect(bills([fee('31')], known, minimum('46.50'))).toEqual(['31.5', '61.5'])
})

describe('a minimum of seats that no one has, paid ahead,', () => {
  test.each<[string, Known[], string[]]>([
    ['is not given back for a pause that comes later', [runs, paused('2026-05-11', '2026-05-21')], ['31', '31']],
    [
      'nor where the end of its schedule was known',
      [{ until: '2026-05-30T00:00:00Z' }, { until: '2026-05-30T00:00:00Z', ...paused('2026-05-11', '2026-05-21') }],
      ['29', '0'],
    ],
    ['nor for an end that comes later', [runs, cancelled('2026-05-20')], ['31', '0']],
    [
      'is charged for the days that come back',
      [paused('2026-05-11', '2026-05-31'), paused('2026-05-11', '2026-05-21')],
      ['11', '41'],
    ],
    ['is charged for the days that UNDO gives back', [cancelled('2026-05-20'), runs], ['19', '43']],
    [
      'is charged for those that come back, also where others go',
      [paused('2026-05-11', '2026-05-21'), paused('2026-05-21', '2026-05-31')],
      ['21', '41'],
    ],
    [
      'is charged for those that come back, also where the end comes nearer',
      [paused('2026-05-11', '2026-05-16'), cancelled('2026-05-26')],
      ['26', '5'],
    ],
  ])('%s', (_name, known, expected) => {
    expect(withMinimum(known)).toEqual(expected)
  })
})

describe('seats that come into a period whose minimum was paid ahead', () => {
  const from = (day: string) => ({ seats: [{ product_item_id: 'item0', start_at: `${day}T00:00:00Z`, end_at: null }] })

  test('count towards the minimum of the days that are left, once a pause takes some', () => {
    // 21 days are left. A seat for the last of them is 2.00, and May was paid; June has the seat.
    expect(withMinimum([runs, paused('2026-05-11', '2026-05-21')], from('2026-05-31'))).toEqual(['31', '62'])
    // A seat for the last ten days before a pause of the others is 20.00 of the 21.00 for these days.
    expect(withMinimum([runs, paused('2026-05-11', '2026-05-21')], from('2026-05-22'))).toEqual(['31', '62'])
    // From 2 May on it is 20 days: 40.00, of which 21.00 were paid as the minimum of these days.
    expect(withMinimum([runs, paused('2026-05-11', '2026-05-21')], from('2026-05-02'))).toEqual(['31', '81'])
  })

  test('are one charge to its end, whatever was paused when no one had one', () => {
    // 26 days are 26.00, of which 16.00 were charged: 10.00 are missing, or 2.00 where a seat of 8.00 counts.
    const known = [paused('2026-05-06', '2026-05-21'), paused('2026-05-06', '2026-05-11')]
    expect(withMinimum(known)).toEqual(['16', '41'])
    expect(withMinimum(known, from('2026-05-28'))).toEqual(['16', '72'])
  })
})

const instant = (day: number) => instantOf(Date.UTC(2026, 4, day))
const days = fc
  .uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 2 })
  .map(pair => pair.toSorted((a, b) => a - b))
  .map(([from = 1, to = 2]) => interval(instant(from), instant(to)))

test('a part is read as it was written, and other keys are no parts', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9 ]{1,30}$/),
      days,
      fc.array(days, { maxLength: 3 }),
      (key, service, gaps) => {
        const part: PaidPart = { key, service, periodEnd: instant(31), paused: gaps }
        expect([...partsIn(new Set([key, textOfPart(part)])).values()]).toEqual([part])
        expect([isPart(key), isPart(textOfPart(part))]).toEqual([key.startsWith('part '), true])
      },
    ),
  )
})

test('every day of a period is in one segment, and what is left is what no charge is for', () => {
  const month = interval(instant(1), instant(31))
  const charge = fc.record({ service: days, paused: fc.array(days, { maxLength: 2 }) })
  fc.assert(
    fc.property(fc.array(charge, { maxLength: 4 }), charges => {
      const paid = charges.map((each, index) => ({ ...each, key: `${index}`, seats: null }))
      const segments = segmentsOf(paid, month)
      expect(segments[0]?.time.start).toBe(month.start)
      expect(segments.at(-1)?.time.end).toBe(month.end)
      for (const [index, { time }] of segments.entries())
        expect(segments[index + 1]?.time.start ?? month.end).toBe(time.end)
      const left = without(
        [month],
        charges.flatMap(({ service, paused: out }) => without([service], out)),
      )
      for (const { time, paid: own } of segments)
        expect(left.some(each => each.start <= time.start && time.end <= each.end)).toBe(own.length === 0)
    }),
  )
})

test('however often the end moves, a month is paid once and in full', () => {
  const ends = fc.array(fc.integer({ min: 2, max: 31 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(ends, fc.integer({ min: 1, max: 99_999 }), (moves, cents) => {
      const yearly = [fee(plain(decimal(`${cents}e-2`)), YEARLY)]
      // The invoices of a year are monthly, and all know of an end in its twelfth month but the last.
      const known = [
        ...moves.map(day => cancelled(`2027-04-${String(Math.min(day, 29)).padStart(2, '0')}`)),
        ...Array.from({ length: 12 - moves.length }, () => runs),
      ]
      expect(plain(sum(bills(yearly, known, { subscription: { billing_time: 'EXACT' } }).map(decimal)))).toBe(
        plain(decimal(`${cents}e-2`)),
      )
    }),
    { numRuns: 30 },
  )
})
