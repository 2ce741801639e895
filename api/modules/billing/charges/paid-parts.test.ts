// A period that was charged ahead in part, because an end or a pause was known then that later fell away: the rest is
// charged, once, and all parts sum to the rounded whole.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { instantOf, interval } from '../../../../shared/time.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type Example, exampleInputs, exampleInvoice, recurring } from '../testing/example-inputs.ts'
import { isPart, type PaidPart, partsIn, segmentsOf, textOfPart, without } from './paid-parts.ts'

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
