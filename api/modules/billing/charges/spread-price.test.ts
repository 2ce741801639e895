// Prices that span several billing periods: spread over their invoices, or carrying over the rest of a block.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoices,
  metered,
  plainUsage,
  recurring,
} from '../testing/example-inputs.ts'

const QUARTER = { type: 'MONTH', value: 3 } as const
const YEAR = { type: 'YEAR', value: 1 } as const
const start = '2026-01-01T00:00:00Z'
const bills = (example: Example, count: number): string[] =>
  exampleInvoices(exampleInputs(example), count).map(invoice => invoice.amount_excluding_tax)
const total = (amounts: readonly string[]): string => plain(sum(amounts.map(decimal)))
const money = (value: Decimal): string => plain(toMoney(amount(value, 'EUR')).quantity)

describe('a price that is spread over several invoices', () => {
  test('three monthly invoices of a quarterly price of 0.999 print 1.00 together, twelve of a yearly one too', () => {
    const quarterly = bills({ start, items: [recurring('0.999', { pricing_period: QUARTER })] }, 6)
    expect(quarterly).toEqual(['0.33', '0.34', '0.33', '0.33', '0.34', '0.33'])
    const yearly = bills({ start, items: [recurring('0.999', { pricing_period: YEAR })] }, 12)
    expect(total(yearly)).toBe('1')
  })

  test('so do invoices in advance, and a lump on usage', () => {
    const price = { pricing_period: QUARTER, pricing_type: 'FIXED' }
    const inAdvance = [recurring('0.999', { ...price, billing_in_advance: true })]
    expect(bills({ start, items: inAdvance }, 3)).toEqual(['0.33', '0.34', '0.33'])
    expect(bills({ start, items: [metered([{ fixed_amount: eur('0.999') }], price)] }, 3)).toEqual([
      '0.33',
      '0.34',
      '0.33',
    ])
  })

  test('without rounding every part is exact', () => {
    const items = [recurring('0.999', { pricing_period: QUARTER })]
    const inputs = exampleInputs({ start, items })
    const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }]
    const exact = { ...inputs, platform: { ...inputs.platform, rounding_settings } }
    const lines = exampleInvoices(exact, 3).map(({ content }) => content.periods[0]?.groups[0]?.lines[0])
    expect(lines.map(line => line?.amount_excluding_tax.quantity)).toEqual(['0.333', '0.333', '0.333'])
  })

  test('twelve months sum to the amount of the year, whatever the price and the month they begin in', () => {
    const cents = fc.integer({ min: 1, max: 2_000_000 })
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 12 }), (price, month) => {
        const text = plain(decimal(`${price}e-4`))
        const from = `2026-${String(month).padStart(2, '0')}-01T00:00:00Z`
        const exact = { billing_time: 'EXACT' as const }
        const items = [recurring(text, { pricing_period: YEAR })]
        expect(total(bills({ start: from, items, subscription: exact }, 12))).toBe(money(decimal(text)))
        // Calendar years: the first one ends with December.
        const months = 13 - month
        const part = decimal(text).times(String(months)).div('12')
        expect(total(bills({ start: from, items }, months))).toBe(money(part))
      }),
      { numRuns: 40 },
    )
  })

  test('usage that is rated over a quarter prints the rounded quarter over its months', () => {
    const used = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(used, fc.integer({ min: 1, max: 9999 }), (months, price) => {
        const unit = plain(decimal(`${price}e-4`))
        const inputs = exampleInputs({ start, items: [metered([{ amount: eur(unit) }], { pricing_period: QUARTER })] })
        const ends = ['2026-02-01', '2026-03-01', '2026-04-01'].map(day => Date.parse(`${day}T00:00:00Z`))
        const invoices = exampleInvoices(inputs, 3, ({ interval }) => {
          const until = months.filter((_, index) => (ends[index] ?? 0) <= interval.end)
          return plainUsage(String(until.reduce((a, b) => a + b, 0)))
        })
        const whole = decimal(unit).times(String(months.reduce((a, b) => a + b, 0)))
        expect(total(invoices.map(invoice => invoice.amount_excluding_tax))).toBe(money(whole))
      }),
      { numRuns: 60 },
    )
  })
})

describe('blocks that are bought ahead of use', () => {
  const BLOCKS = [{ amount: eur('10'), block_size: { number: '1000' } }]
  const used = new Map([
    ['2026-01-01', '3450'],
    ['2026-02-01', '1200'],
    ['2026-03-01', '300'],
    ['2026-04-01', '51'],
  ])
  const invoices = (config: object, count = 4) =>
    exampleInvoices(
      exampleInputs({ start, items: [metered(BLOCKS, { pricing_type: 'FLAT_TOP_UP', ...config })] }),
      count,
      need => plainUsage(used.get(new Date(need.interval.start).toISOString().slice(0, 10)) ?? '0'),
    ).map(invoice => invoice.amount_excluding_tax)

  test('with rollover the rest of the last block serves the months after it', () => {
    // 4 blocks leave 550; 1200 need one more and leave 350; 300 leave 50; 51 need one more.
    expect(invoices({ top_up: { rollover: true } })).toEqual(['40', '10', '0', '10'])
  })

  test('without it the rest is lost', () => {
    expect(invoices({})).toEqual(['40', '20', '10', '10'])
    expect(invoices({ top_up: { rollover: false } })).toEqual(['40', '20', '10', '10'])
  })
})

test('steps that were reached add up where the price says so', () => {
  const bands = [
    { fixed_amount: eur('25'), tier_top_bound: { number: '100' } },
    { fixed_amount: eur('20'), tier_top_bound: { number: '1000' } },
    { fixed_amount: eur('15') },
  ]
  const bill = (config: object) =>
    exampleInvoices(
      exampleInputs({ start, items: [metered(bands, { pricing_type: 'STAIR_STEP', ...config })] }),
      1,
      '200',
    )[0]?.amount_excluding_tax
  expect([bill({}), bill({ step_accumulation: 'STEPS_REACHED' })]).toEqual(['20', '45'])
})
