// Prices that are split by property values, on invoices (semantics 3.1): every value has its own tiers, minimums and
// included volume, and the line is their sum.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { numberVolume } from '../../../../shared/rating/price.ts'
import { rate } from '../../../../shared/rating/rate.ts'
import { priceOf } from '../../../../shared/rating/testing/prices.ts'
import type { BillingInputs, ConfigInput } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, metered } from '../testing/example-inputs.ts'
import type { UsageFigure } from '../usage/usage-needs.ts'

const start = '2026-01-01T00:00:00Z'
const SPLIT = { meter_properties: [{ id: 'metp_region', reference: 'region' }] }
const TIERS = [
  { amount: eur('1'), tier_top_bound: { number: '10' } },
  { amount: eur('0.5'), fixed_amount: eur('2') },
]
const inputsOf = (config: Partial<ConfigInput>, bands: object[] = TIERS, more: Partial<BillingInputs> = {}) =>
  exampleInputs({
    start,
    items: [metered(bands, { pricing_type: 'TIERED', split_pricing: SPLIT, ...config })],
    inputs: {
      condition_names: { properties: [{ id: 'metp_region', reference: 'region', type: 'STRING' }], variables: [] },
      ...more,
    },
  })
const used = (byValue: Readonly<Record<string, string>>): UsageFigure[] =>
  Object.entries(byValue).map(([value, number]) => ({
    currency: null,
    number: decimal(number),
    count: 1,
    split: [value === '' ? null : value],
  }))
const bill = (inputs: BillingInputs, byValue: Readonly<Record<string, string>>) => {
  const [invoice] = exampleInvoices(inputs, 1, () => used(byValue))
  const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
  if (!invoice) throw new Error('a metered price has an invoice')
  return { invoice, line }
}

describe('a split price', () => {
  test('prices each value on its own, and says so', () => {
    const { line } = bill(inputsOf({}), { us: '12', eu: '4', '': '11' })
    // eu: 4; us: 10 + 2 + 1; none: 10 + 2 + 0.5.
    expect(line?.amount_excluding_tax).toEqual(eur('29.50'))
    expect(line?.meter_value).toMatchObject({ number: '27', count: '3' })
    expect(line?.details.band).toBeUndefined()
    expect(line?.details.description).toBe('3 values of region, each priced on its own')
    expect(
      line?.sub_lines?.map(({ description, details }) => [
        description,
        details.amount.quantity,
        details.split_pricing?.meter_properties,
      ]),
    ).toEqual([
      ['region eu: 4 × 1 EUR', '4', [{ id: 'metp_region', reference: 'region', value: 'eu' }]],
      ['region us: 10 × 1 EUR', '10', [{ id: 'metp_region', reference: 'region', value: 'us' }]],
      ['region us: fixed 2 EUR + 2 × 0.5 EUR', '3', [{ id: 'metp_region', reference: 'region', value: 'us' }]],
      ['region (none): 10 × 1 EUR', '10', [{ id: 'metp_region', reference: 'region' }]],
      ['region (none): fixed 2 EUR + 1 × 0.5 EUR', '2.5', [{ id: 'metp_region', reference: 'region' }]],
    ])
  })

  test('without usage has no value to price, so a minimum is not charged', () => {
    const inputs = inputsOf({ pricing_type: 'FLAT' }, [{ amount: eur('1'), minimum_amount: eur('5') }])
    expect(exampleInvoices(inputs, 1, () => []).map(each => each.amount_excluding_tax)).toEqual(['0'])
    expect(bill(inputs, { eu: '1', us: '9' }).invoice.amount_excluding_tax).toBe('14')
  })

  test('includes volume for each value', () => {
    const inputs = inputsOf({ default_included_volume: { number: '3' } })
    const { line } = bill(inputs, { eu: '2', us: '5' })
    expect(line?.amount_excluding_tax).toEqual(eur('2.00'))
    expect(line?.sub_lines?.map(({ description }) => description)).toEqual([
      'region eu: 0 × 1 EUR, 2 of 2 included',
      'region us: 2 × 1 EUR, 3 of 5 included',
    ])
  })

  test('keeps the rest of the last block of each value', () => {
    const inputs = inputsOf({ pricing_type: 'FLAT_TOP_UP', top_up: { rollover: true } }, [
      { amount: eur('10'), block_size: { number: '10' } },
    ])
    const months = exampleInvoices(inputs, 2, ({ interval }) =>
      interval.start < Date.UTC(2026, 1, 1) ? used({ eu: '12', us: '9' }) : used({ eu: '8', us: '2' }),
    )
    // January: 2 + 1 blocks leave 8 and 1. February: none + 1.
    expect(months.map(each => each.amount_excluding_tax)).toEqual(['30', '10'])
  })

  test('spread over several invoices is billed the whole so far less what was billed, value by value', () => {
    const quarter = { type: 'MONTH', value: 3 } as const
    const inputs = inputsOf({ pricing_period: quarter })
    const soFar = [{ eu: '8' }, { eu: '12', us: '1' }, { eu: '12', us: '11' }]
    const months = exampleInvoices(inputs, 3, ({ interval }) => {
      const ends = new Date(interval.end).getUTCMonth()
      return used(soFar[ends - 1] as Record<string, string>)
    })
    expect(months.map(each => each.amount_excluding_tax)).toEqual(['8', '6', '11.5'])
    expect(months.flatMap(linesOf)).toHaveLength(3)
  })

  test('of any usage is the sum of the prices of its values, in whatever order they come', () => {
    const config = priceOf('TIERED', [
      { topBound: '10', amount: '1' },
      { amount: '0.5', fixedAmount: '2' },
    ])
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.nat(40), { maxKeys: 6 }), usage => {
        const values = Object.entries(usage)
        const expected = sum(values.map(([, n]) => rate(config, numberVolume(decimal(String(n)))).total.quantity))
        for (const order of [values, values.toReversed()]) {
          const given = Object.fromEntries(order.map(([value, n]) => [`v${value}`, String(n)]))
          expect(plain(decimal(bill(inputsOf({}), given).invoice.amount_excluding_tax))).toBe(plain(expected))
        }
      }),
      { numRuns: 50 },
    )
  })
})
