// What a pause does to charges: worked tables by the days of a month, and a check that nothing is lost or charged
// twice.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, sum } from '../../../../shared/decimal.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

type Pause = { readonly start_at: string; readonly end_at?: string | null }
/** Three months, up to the end of a price that has no other end. */
const END = '2026-06-01T00:00:00Z'
/** The invoices that bill anything, for a subscription from 1 March on. */
const bills = (items: Example['items'], pauses: readonly Pause[], more: Partial<Example> = {}): string[] =>
  exampleInvoices(
    exampleInputs({
      start: '2026-03-01T00:00:00Z',
      end: END,
      items,
      ...more,
      subscription: {
        ...more.subscription,
        inactive_periods: pauses.map(pause => ({ type: 'PAUSE' as const, ...pause })),
      },
    }),
    Number.POSITIVE_INFINITY,
  ).map(invoice => invoice.amount_excluding_tax)

describe('a fee of 31 a month', () => {
  test.each<[string, Pause[], string[]]>([
    ['never paused', [], ['31', '31', '31']],
    ['10 of 31 days', [{ start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }], ['21', '31', '31']],
    [
      'the day it is resumed on is charged',
      [{ start_at: '2026-03-11T09:00:00Z', end_at: '2026-03-12T08:00:00Z' }],
      ['30', '31', '31'],
    ],
    [
      'resumed on the same day',
      [{ start_at: '2026-03-11T09:00:00Z', end_at: '2026-03-11T18:00:00Z' }],
      ['31', '31', '31'],
    ],
    ['over a boundary', [{ start_at: '2026-03-22T00:00:00Z', end_at: '2026-04-16T00:00:00Z' }], ['21', '15.5', '31']],
    ['all of April', [{ start_at: '2026-04-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }], ['31', '31']],
    ['until further notice', [{ start_at: '2026-04-11T00:00:00Z', end_at: null }], ['31', '10.33']],
    [
      'twice in a month',
      [
        { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-04T00:00:00Z' },
        { start_at: '2026-03-10T00:00:00Z', end_at: '2026-03-13T00:00:00Z' },
      ],
      ['26', '31', '31'],
    ],
  ])('%s', (_name, pauses, expected) => {
    expect(bills([recurring('31')], pauses)).toEqual(expected)
  })

  test('in advance: what is known of a pause is not charged', () => {
    const pause = { start_at: '2026-04-11T00:00:00Z', end_at: '2026-04-21T00:00:00Z' }
    const monthly = bills([recurring('30', { billing_in_advance: true })], [pause])
    expect(monthly).toEqual(['30', '20', '30'])
  })

  test('by the local days of its zone, over the change of the clocks', () => {
    // 29 March has 23 hours in Brussels. From 28 March 00:00 to 30 March 00:00 local time.
    const pause = { start_at: '2026-03-27T23:00:00Z', end_at: '2026-03-29T22:00:00Z' }
    const inputs = exampleInputs({ start: '2026-02-28T23:00:00Z', items: [recurring('31')] })
    const local = {
      ...inputs,
      customer: { ...inputs.customer, timezone: 'Europe/Brussels' },
      subscription: { ...inputs.subscription, inactive_periods: [{ type: 'PAUSE' as const, ...pause }] },
    }
    expect(exampleInvoices(local, 1).map(invoice => invoice.amount_excluding_tax)).toEqual(['29'])
  })

  test('a quarterly price on monthly invoices owes the days of each month', () => {
    const pause = { start_at: '2026-04-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }
    const quarterly = recurring('300', { pricing_period: { type: 'MONTH', value: 3 } })
    const start = '2026-04-01T00:00:00Z'
    expect(bills([quarterly], [pause], { start, end: '2026-07-01T00:00:00Z' })).toEqual(['100', '100'])
  })
})

test.each([
  ['a fee', recurring('365', { billing_in_advance: true, billing_period: { type: 'YEAR', value: 1 } })],
  [
    'seats',
    {
      item: { model_type: 'PER_SEAT' },
      config: {
        pricing_type: 'FLAT',
        billing_in_advance: true,
        billing_period: { type: 'YEAR', value: 1 },
        default_seats_value: { number: '73' },
      },
      bands: [{ amount: eur('5') }],
    },
  ],
] satisfies [string, Example['items'][number]][])(
  '%s of a year ahead that began in a pause is charged from where the pause ends, on the next invoice and once',
  (_name, item) => {
    const given = (end_at: string | null) =>
      exampleInputs({
        start: '2025-11-01T00:00:00Z',
        items: [item],
        subscription: { inactive_periods: [{ type: 'PAUSE', start_at: '2025-12-10T00:00:00Z', end_at }] },
      })
    const billed = new Set<string>()
    const closedAt = (cutoff: string, end_at: string | null): string => {
      const inputs = given(end_at)
      const window = [...untilOf(inputs, cutoff)].at(-1)
      if (!window) throw new Error('a month ends then')
      const made = exampleInvoice(inputs, window, { usage: '0', billed })
      for (const key of made.advanceCharges) billed.add(key)
      return made.amount_excluding_tax
    }
    const all = ['2025-12-01', '2026-01-01', '2026-02-01', '2026-03-01'].map(day => closedAt(`${day}T00:00:00Z`, null))
    const resumed = '2026-03-05T09:00:00Z'
    all.push(...['2026-04-01', '2026-05-01'].map(day => closedAt(`${day}T00:00:00Z`, resumed)))
    // 39 days of 2025, and 302 of 2026 from 5 March on.
    expect(all).toEqual(['39', '0', '0', '0', '302', '0'])
  },
)

function* untilOf(inputs: BillingInputs, cutoff: string) {
  for (const window of invoiceWindows(inputs)) {
    if (window.cutoffAt > at(cutoff)) return
    yield window
  }
}

test('a lump sum on usage is not charged for a month without an active day', () => {
  const pause = { start_at: '2026-04-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }
  const lump = metered([{ fixed_amount: eur('10') }], { pricing_type: 'FIXED' })
  expect(bills([lump], [pause])).toEqual(['10', '10'])
})

test('the charge and the charge for the paused days alone sum to the whole', () => {
  const day = fc.integer({ min: 0, max: 90 })
  const zones = fc.constantFrom('UTC', 'Europe/Brussels', 'America/New_York', 'Pacific/Auckland')
  fc.assert(
    fc.property(day, day, zones, (one, other, zone) => {
      const [from, until] = [Math.min(one, other), Math.max(one, other) + 1]
      const time = (days: number) => formatInstant(instantOf(at('2026-03-01T12:00:00Z') + days * 86_400_000))
      const billed = (pauses: readonly Pause[]) => {
        const inputs = exampleInputs({ start: '2026-03-01T12:00:00Z', end: END, items: [recurring('30')] })
        const inactive_periods = pauses.map(pause => ({ type: 'PAUSE' as const, ...pause }))
        const paused = {
          ...inputs,
          customer: { ...inputs.customer, timezone: zone },
          subscription: { ...inputs.subscription, inactive_periods },
        }
        return sum(exampleInvoices(paused, Number.POSITIVE_INFINITY).map(each => decimal(each.amount_excluding_tax)))
      }
      const outside = billed([{ start_at: time(from), end_at: time(until) }])
      const before: Pause[] = from === 0 ? [] : [{ start_at: time(0), end_at: time(from) }]
      const inside = billed([...before, { start_at: time(until), end_at: null }])
      // Each of the invoices is rounded; a day is about 1.
      expect(billed([]).minus(outside).minus(inside).abs().lte('0.05')).toBe(true)
    }),
    { numRuns: 40 },
  )
})
