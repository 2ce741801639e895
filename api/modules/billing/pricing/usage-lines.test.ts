// The lines of an invoice for usage.
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  plainUsage,
} from '../testing/example-inputs.ts'

const invoicesOf = (example: Example, count: number, usage?: Parameters<typeof exampleInvoices>[2]) =>
  exampleInvoices(exampleInputs(example), count, usage)

describe('usage', () => {
  const start = '2026-01-01T00:00:00Z'
  const perThousand = [{ amount: eur('0.015'), block_size: { number: '1000' } }]

  test('3 450 tokens at 0.015 per 1 000 are 0.05175, rounded on the line only', () => {
    const [invoice] = invoicesOf({ start, items: [metered(perThousand)] }, 1, '3450')
    const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.details.pricing_amount).toEqual(eur('0.05175'))
    expect(line?.amount_excluding_tax).toEqual(eur('0.05'))
    expect(line?.meter_value).toEqual({
      id: 'calc',
      reference: 'tokens_sum',
      type: 'NUMBER',
      number: '3450',
      count: '1',
    })
    expect(line?.details.description).toBe('3450 ÷ 1000 × 0.015 EUR')
    expect(line?.details.band).toEqual({ amount: eur('0.015'), block_size: { number: '1000' } })
  })

  const tiers = [
    { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
    { amount: eur('0.08'), tier_top_bound: { number: '10000' } },
    { amount: eur('0.05') },
  ]

  test.each([
    ['TIERED', '1001', '100.08'],
    ['TIERED', '12000', '920'],
    ['TOP_TIERED', '5000', '400'],
  ])('%s %s is %s', (pricing_type, used, expected) => {
    const [invoice] = invoicesOf({ start, items: [metered(tiers, { pricing_type })] }, 1, used)
    expect(invoice?.amount_excluding_tax).toBe(expected)
  })

  test('a tiered line has a sub line for each band, which sum to it', () => {
    const [invoice] = invoicesOf({ start, items: [metered(tiers, { pricing_type: 'TIERED' })] }, 1, '12000')
    const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.sub_lines?.map(sub => sub.details.amount.quantity)).toEqual(['100', '720', '100'])
    expect(line?.sub_lines?.[1]?.details.band).toMatchObject({
      tier_lower_bound: { number: '1000' },
      tier_top_bound: { number: '10000' },
    })
  })

  test('a monthly price on a quarterly invoice is rated month by month', () => {
    const config = { pricing_type: 'TIERED', pricing_period: { type: 'MONTH' as const, value: 1 } }
    const subscription = { billing_period: { type: 'MONTH' as const, value: 3 } }
    const [invoice] = invoicesOf({ start, items: [metered(tiers, config)], subscription }, 1, '1500')
    expect(linesOf(invoice)).toEqual([
      '2026-01-01..2026-02-01 140.00',
      '2026-02-01..2026-03-01 140.00',
      '2026-03-01..2026-04-01 140.00',
    ])
  })

  test('tiers over a year on a monthly invoice continue where the month before stopped', () => {
    const config = { pricing_type: 'TIERED', pricing_period: { type: 'YEAR' as const, value: 1 } }
    const used = (end: number) => (end <= Date.parse('2026-02-01T00:00:00Z') ? '900' : '1200')
    const inputs = exampleInputs({ start, items: [metered(tiers, config)] })
    const [january, february] = exampleInvoices(inputs, 2, need => plainUsage(used(need.interval.end)))
    expect([january?.amount_excluding_tax, february?.amount_excluding_tax]).toEqual(['90', '26'])
    const line = february?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.details.previously_billed?.pricing_amount).toEqual(eur('90'))
  })

  describe('that persists', () => {
    const persisting = (example: Example) => {
      const inputs = exampleInputs(example)
      return { ...inputs, calculations: inputs.calculations.map(each => ({ ...each, persist: true })) }
    }
    // The events of semantics 1.1: 6 seats at the end of June, 4 more in July, none after; read as the sum of an interval.
    const seats = ({ interval }: { interval: { start: number; end: number } }) => {
      const changes = [
        ['2026-06-10T00:00:00Z', 6],
        ['2026-07-10T00:00:00Z', 4],
      ] as const
      const within = changes.filter(([at]) => interval.start <= Date.parse(at) && Date.parse(at) < interval.end)
      return plainUsage(String(within.reduce((total, [, change]) => total + change, 0)), within.length)
    }
    const june = '2026-06-01T00:00:00Z'

    test('is billed in full every period, also when nothing happened in it', () => {
      const items = [metered([{ amount: eur('10') }])]
      const invoices = exampleInvoices(persisting({ start: june, items }), 3, seats)
      expect(invoices.map(invoice => invoice.amount_excluding_tax)).toEqual(['60', '100', '100'])
    })

    test('is charged once in a pricing period longer than the billing period, and in full again in the next', () => {
      const items = [metered([{ amount: eur('10') }], { pricing_period: { type: 'MONTH', value: 3 } })]
      const invoices = exampleInvoices(persisting({ start: '2026-07-01T00:00:00Z', items }), 4, need =>
        seats({ interval: { ...need.interval, start: Date.parse(june) } }),
      )
      expect(invoices.map(invoice => invoice.amount_excluding_tax)).toEqual(['100', '0', '0', '100'])
    })

    test('starts from nothing in the next schedule', () => {
      const items = [metered([{ amount: eur('10') }])]
      const inputs = persisting({ start: june, end: '2026-07-01T00:00:00Z', items })
      const [first] = inputs.schedules
      if (!first) throw new Error('an example has a schedule')
      const schedules = [first, { ...first, id: 'next', start_at: '2026-07-01T00:00:00Z', end_at: null }]
      const invoices = exampleInvoices({ ...inputs, schedules }, 2, seats)
      expect(invoices.map(invoice => invoice.amount_excluding_tax)).toEqual(['60', '40'])
    })
  })

  test('usage prices are not prorated in a partial period', () => {
    const [invoice] = invoicesOf({ start: '2026-01-20T00:00:00Z', items: [metered([{ amount: eur('2') }])] }, 1, '3')
    expect(invoice?.amount_excluding_tax).toBe('6')
  })

  test('a deduction is negative and taxed as such', () => {
    const credit = {
      ...metered([{ amount: eur('1') }]),
      item: { type: 'DEDUCTION' as const, model_type: 'USAGE_BASED' as const, meter_value_calculation_id: 'calc' },
    }
    const [invoice] = invoicesOf({ start, items: [credit] }, 1, '10')
    expect([invoice?.amount_excluding_tax, invoice?.tax_amount, invoice?.amount_including_tax]).toEqual([
      '-10',
      '-2.1',
      '-12.1',
    ])
  })

  test('lines without usage are left out unless the platform wants them', () => {
    const inputs = exampleInputs({ start, items: [metered(perThousand)] })
    expect(linesOf(exampleInvoices(inputs, 1, () => [])[0])).toEqual([])
    const shown = {
      ...inputs,
      platform: { ...inputs.platform, invoice_settings: { add_zero_meter_value_invoice_lines: true } },
    }
    expect(linesOf(exampleInvoices(shown, 1, () => [])[0])).toEqual(['2026-01-01..2026-02-01 0.00'])
  })

  test('an AMOUNT metric: 12 events worth 3 000.00 at 1.4 % + 0.25 are 45.00; another currency is refused', () => {
    const items = [metered([{ percentage: '1.4', amount: eur('0.25') }])]
    const base = exampleInputs({ start, items })
    const inputs = {
      ...base,
      calculations: base.calculations.map(each => ({ ...each, value_type: 'AMOUNT' as const })),
    }
    const worth = (currency: string) => () => [{ currency, number: decimal('3000'), count: 12 }]
    expect(exampleInvoices(inputs, 1, worth('EUR'))[0]?.amount_excluding_tax).toBe('45')
    expect(() => exampleInvoices(inputs, 1, worth('USD'))).toThrow('no exchange rate')
  })
})
