// Included volume on invoices (semantics 3.3): when it is granted again, how much a partial period gets, and how a line
// shows it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { ConfigInput, SubscriptionInput } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, metered, plainUsage } from '../testing/example-inputs.ts'

const start = '2026-01-01T00:00:00Z'
const MONTH = { type: 'MONTH', value: 1 } as const
const QUARTER = { type: 'MONTH', value: 3 } as const

type Case = {
  readonly config: Partial<ConfigInput>
  readonly subscription?: Partial<SubscriptionInput>
  readonly from?: string
}
/**
 * Invoices of a price of 1 per unit by default; `used` holds the usage of each month from January on, for any interval.
 */
const bill = (used: readonly number[], { config, subscription = {}, from = start }: Case, count = 6) =>
  exampleInvoices(
    exampleInputs({ start: from, items: [metered([{ amount: eur('1') }], config)], subscription }),
    count,
    ({ interval }) => {
      const months = used.filter((_, index) => {
        const at = Date.UTC(2026, index, 15)
        return interval.start <= at && at < interval.end
      })
      return plainUsage(String(months.reduce((a, b) => a + b, 0)), months.length)
    },
  )
const amounts = (used: readonly number[], of: Case, count?: number) =>
  bill(used, of, count).map(invoice => invoice.amount_excluding_tax)
const including = (number: string, reset_type?: string) => ({
  default_included_volume: { number, ...(reset_type ? { reset_type } : {}) },
})

describe('what is included', () => {
  const used = [60, 150, 80, 120, 0, 30]

  test('is granted each billing period, the rest of the one before is lost', () => {
    expect(amounts(used, { config: including('100') })).toEqual(['0', '50', '0', '20', '0', '0'])
  })

  test('of a whole schedule is granted once', () => {
    expect(amounts(used, { config: including('300', 'SCHEDULE') })).toEqual(['0', '0', '0', '110', '0', '30'])
  })

  test('of a quarterly billing period serves the three monthly ratings of it', () => {
    const quarterly = { billing_period: QUARTER }
    const config = { pricing_period: MONTH, ...including('100') }
    const invoices = bill(used, { config, subscription: quarterly }, 2)
    expect(invoices.flatMap(invoice => linesOf(invoice).map(line => line.split(' ')[1]))).toEqual([
      '0.00',
      '110.00',
      '80.00',
      '20.00',
      '30.00',
    ])
    const monthly = { pricing_period: MONTH, ...including('100', 'PRICING_PERIOD') }
    expect(amounts(used, { config: monthly, subscription: quarterly }, 2)).toEqual(['50', '20'])
  })

  test('of a pricing period over three invoices is granted once in the period, or each month', () => {
    const spread = { pricing_period: QUARTER }
    expect(amounts(used, { config: { ...spread, ...including('100', 'PRICING_PERIOD') } })).toEqual([
      '0',
      '110',
      '80',
      '20',
      '0',
      '30',
    ])
    expect(amounts(used, { config: { ...spread, ...including('100') } })).toEqual(['0', '50', '0', '20', '0', '0'])
  })

  test('with rollover, of prices that sell blocks, adds what is left to the next grant', () => {
    const config = { pricing_type: 'FLAT_TOP_UP', top_up: { rollover: true }, ...including('100') }
    expect(amounts(used, { config })).toEqual(['0', '10', '0', '0', '0', '0'])
    expect(amounts(used, { config: { ...config, top_up: { rollover: false } } })).toEqual([
      '0',
      '50',
      '0',
      '20',
      '0',
      '0',
    ])
  })

  test('in a partial billing period is prorated by days', () => {
    // 11 to 31 January: 21 of 31 days, so 21 of 31 are free.
    expect(amounts([60], { config: including('31'), from: '2026-01-11T00:00:00Z' }, 1)).toEqual(['39'])
  })

  test('in a period with a pause is prorated by the days outside it, as a price and a schedule state it', () => {
    const pause = { type: 'PAUSE', start_at: '2026-01-11T00:00:00Z', end_at: '2026-01-21T00:00:00Z' } as const
    const subscription = { inactive_periods: [pause] }
    expect(amounts([60], { config: including('31'), subscription }, 1)).toEqual(['39'])
    // Of one pricing period, and of the whole schedule, it is all of it.
    expect(amounts([60], { config: including('31', 'PRICING_PERIOD'), subscription }, 1)).toEqual(['29'])
    expect(amounts([60], { config: including('31', 'SCHEDULE'), subscription }, 1)).toEqual(['29'])
    // 31 a month until the 16th, on the 10 days before the pause, and 62 a month on the 11 days after it: 10 + 22 are free.
    const included_volumes = [
      { pricing_item_config_id: 'config0', number: '31', end_at: '2026-01-16T00:00:00Z' },
      { pricing_item_config_id: 'config0', number: '62', start_at: '2026-01-16T00:00:00Z' },
    ]
    const inputs = exampleInputs({
      start,
      items: [metered([{ amount: eur('1') }])],
      subscription,
      schedules: [{ included_volumes }],
    })
    expect(exampleInvoices(inputs, 1, '60')[0]?.amount_excluding_tax).toBe('28')
  })

  test('comes off before the tiers begin', () => {
    const tiers = [
      { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
      { amount: eur('0.08'), tier_top_bound: { number: '10000' } },
      { amount: eur('0.05') },
    ]
    const items = [metered(tiers, { pricing_type: 'TIERED', ...including('1000') })]
    expect(exampleInvoices(exampleInputs({ start, items }), 1, '5000')[0]?.amount_excluding_tax).toBe('340')
  })
})

test('the line says what was included and left, and shows all usage', () => {
  const line = bill([60, 150], { config: including('100') })[1]?.content.periods[0]?.groups[0]?.lines[0]
  expect(line?.meter_value).toMatchObject({ number: '150' })
  expect(line?.details).toMatchObject({
    description: '50 × 1 EUR, 100 of 150 included',
    meter_value: { number: '150' },
    included_volume_details: {
      included_volume: { type: 'NUMBER', number: '100' },
      available_included_volume: { type: 'NUMBER', number: '100' },
      period_volume: { type: 'NUMBER', number: '150' },
    },
  })
})

test('usage that is fully included has a line of zero; no usage has no line', () => {
  const [used, unused] = bill([60, 0], { config: including('100') }, 2)
  expect(linesOf(used)).toEqual(['2026-01-01..2026-02-01 0.00'])
  expect(linesOf(unused)).toEqual([])
})

test('of metered money an amount and events are free', () => {
  const base = exampleInputs({
    start,
    items: [
      metered([{ percentage: '2', amount: eur('0.5') }], {
        default_included_volume: { amount: eur('1000'), count: '3', reset_type: 'BILLING_PERIOD' },
      }),
    ],
  })
  const inputs = { ...base, calculations: base.calculations.map(each => ({ ...each, value_type: 'AMOUNT' as const })) }
  const [invoice] = exampleInvoices(inputs, 1, () => [{ currency: 'EUR', number: decimal('2500'), count: 5 }])
  const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
  expect(line?.details.description).toBe(
    '2 % of 1500 EUR + 2 events × 0.5 EUR, 1000 of 2500 EUR included, 3 of 5 events included',
  )
  expect(invoice?.amount_excluding_tax).toBe('31')
})

test('what is billed and what is free is what was used, whatever the reset and the periods', () => {
  const anyUse = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 6, maxLength: 6 })
  const period = fc.constantFrom(MONTH, QUARTER)
  const reset = fc.constantFrom('BILLING_PERIOD', 'PRICING_PERIOD', 'SCHEDULE')
  fc.assert(
    fc.property(
      anyUse,
      reset,
      period,
      period,
      fc.integer({ min: 1, max: 500 }),
      (used, type, pricing, billing, free) => {
        const of = {
          config: { pricing_period: pricing, ...including(String(free), type) },
          subscription: { billing_period: billing },
        }
        const billed = sum(amounts(used, of, billing.value === 3 ? 2 : 6).map(decimal))
        const windows: number[][] =
          type === 'SCHEDULE'
            ? [used]
            : (type === 'BILLING_PERIOD' ? billing : pricing).value === 3
              ? [used.slice(0, 3), used.slice(3)]
              : used.map(one => [one])
        const expected = windows
          .map(window => Math.max(window.reduce((a, b) => a + b, 0) - free, 0))
          .reduce((a, b) => a + b, 0)
        expect(plain(billed)).toBe(String(expected))
      },
    ),
    { numRuns: 150 },
  )
})
