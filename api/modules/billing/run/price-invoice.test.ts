import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { inputsHashOf } from '../terms/billing-inputs.ts'
import { invoiceWindows } from '../terms/windows.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  linesOf,
  metered,
  plainUsage,
  recurring,
} from '../testing/example-inputs.ts'

const invoicesOf = (example: Example, count: number, usage?: Parameters<typeof exampleInvoices>[2]) =>
  exampleInvoices(exampleInputs(example), count, usage)

describe('worked scenarios', () => {
  test('A: a month in advance from 11 March is 21/31, then usage in arrears and the next month; nothing is refunded', () => {
    const items = [recurring('100', { billing_in_advance: true }), metered([{ amount: eur('0.1') }])]
    const example: Example = { start: '2026-03-11T00:00:00Z', items }
    const [first, second] = invoicesOf(example, 2, '50')
    expect(linesOf(first)).toEqual(['2026-03-11..2026-04-01 67.74'])
    expect(first?.invoice_date).toBe('2026-03-11T00:00:00Z')
    expect(first?.advance_only).toBe(true)
    expect(linesOf(second)).toEqual(['2026-03-11..2026-04-01 5.00', '2026-04-01..2026-05-01 100.00'])
    expect(second?.cutoff_at).toBe('2026-04-01T00:00:00Z')
    expect(second?.invoice_date).toBe('2026-03-31T00:00:00Z')
    expect(second?.due_date).toBe('2026-04-30T00:00:00Z')
    const cancelled = { ...example, subscription: { inactive_periods: [{ start_at: '2026-04-16T00:00:00Z' }] } }
    // The April charge was billed before the cancellation, so the third invoice has only the usage of 1 to 15 April.
    const inputs = exampleInputs(cancelled)
    const third = exampleInvoices(inputs, 9, '50').at(-1)
    expect(linesOf(third)).toEqual(['2026-04-01..2026-04-16 5.00'])
    expect(third?.period_end).toBe('2026-04-16T00:00:00Z')
  })

  test('B: EXACT month anchored on 31 January cuts on month ends and never prorates', () => {
    const subscription = { billing_time: 'EXACT' as const }
    const invoices = invoicesOf({ start: '2026-01-31T00:00:00Z', items: [recurring('100')], subscription }, 4)
    expect(invoices.map(invoice => invoice.cutoff_at.slice(0, 10))).toEqual([
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
    ])
    for (const invoice of invoices) expect(invoice.amount_excluding_tax).toBe('100')
  })

  test('C: CALENDAR quarter from 11 February is 49 of 90 days, then whole', () => {
    const subscription = { billing_period: { type: 'MONTH' as const, value: 3 } }
    const [first, second] = invoicesOf({ start: '2026-02-11T00:00:00Z', items: [recurring('300')], subscription }, 2)
    expect(first?.amount_excluding_tax).toBe('163.33')
    expect(first?.cutoff_at).toBe('2026-04-01T00:00:00Z')
    expect(first?.content.periods[0]?.groups[0]?.lines[0]?.details.proration).toEqual({ covered_days: 49, days: 90 })
    expect(second?.amount_excluding_tax).toBe('300')
  })

  test.each([
    ['150 a month on a quarter', '150', { type: 'MONTH', value: 1 }, { type: 'MONTH', value: 3 }, '450'],
    ['1200 a year on a quarter', '1200', { type: 'YEAR', value: 1 }, { type: 'MONTH', value: 3 }, '300'],
    ['1200 a year on a month', '1200', { type: 'YEAR', value: 1 }, { type: 'MONTH', value: 1 }, '100'],
    ['10 a week on a month of 31 days', '10', { type: 'WEEK', value: 1 }, { type: 'MONTH', value: 1 }, '44.29'],
  ] as const)('D: %s', (_name, quantity, pricing_period, billing_period, expected) => {
    const [invoice] = invoicesOf(
      {
        start: '2026-01-01T00:00:00Z',
        items: [recurring(quantity, { pricing_period })],
        subscription: { billing_period },
      },
      1,
    )
    expect(invoice?.amount_excluding_tax).toBe(expected)
  })

  test('I: three lines of 0.333 are 0.99 rounded and 1.00 unrounded', () => {
    const example: Example = {
      start: '2026-01-01T00:00:00Z',
      items: [recurring('0.333'), recurring('0.333'), recurring('0.333')],
    }
    expect(invoicesOf(example, 1)[0]?.amount_excluding_tax).toBe('0.99')
    const inputs = exampleInputs(example)
    const unrounded = {
      ...inputs,
      platform: { ...inputs.platform, rounding_settings: [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }] },
    }
    const [exact] = exampleInvoices(unrounded, 1)
    expect(exact?.amount_excluding_tax).toBe('1')
    expect(linesOf(exact)).toEqual(Array(3).fill('2026-01-01..2026-02-01 0.333'))
  })

  test('I: 100.00 including 19 % is 84.03 net and 15.97 tax', () => {
    const inputs = exampleInputs({
      start: '2026-01-01T00:00:00Z',
      items: [recurring('100')],
      amountType: 'INCLUDING_TAX',
    })
    const german = { organization: { legal_name: 'Acme', registered_address: { country: 'DE' } } }
    const [invoice] = exampleInvoices(
      {
        ...inputs,
        customer: { ...inputs.customer, ...german },
        billing_entity: { ...inputs.billing_entity, registered_address: { country: 'DE' } },
      },
      1,
    )
    expect([invoice?.amount_excluding_tax, invoice?.tax_amount, invoice?.amount_including_tax]).toEqual([
      '84.03',
      '15.97',
      '100',
    ])
  })
})

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

describe('structure', () => {
  const start = '2026-01-01T00:00:00Z'

  test('a schedule added within a period that was charged ahead is charged ahead once, on the next invoice', () => {
    const items = [recurring('310', { billing_in_advance: true })]
    const asked = exampleInvoices(exampleInputs({ start, items }), 1)[0]
    expect(linesOf(asked)).toEqual(['2026-01-01..2026-02-01 310.00'])
    const billed = new Set(asked?.advanceCharges)
    const schedules = [{ end_at: '2026-01-16T00:00:00Z' }, { start_at: '2026-01-16T00:00:00Z' }]
    const inputs = exampleInputs({ start, items, schedules })
    const [, second, third] = invoiceWindows(inputs)
    if (!second || !third) throw new Error('a subscription without end has many invoices')
    const next = exampleInvoice(inputs, second, { usage: '0', billed })
    expect(linesOf(next)).toEqual(['2026-01-16..2026-02-01 160.00', '2026-02-01..2026-03-01 310.00'])
    for (const key of next.advanceCharges) billed.add(key)
    expect(linesOf(exampleInvoice(inputs, third, { usage: '0', billed }))).toEqual(['2026-03-01..2026-04-01 310.00'])
  })

  test('a customer without a country is taxed like a domestic one; a US sale without a percentage cannot become FINAL', () => {
    const inputs = exampleInputs({ start, items: [recurring('100')] })
    const unknown = { ...inputs, customer: { ...inputs.customer, organization: { legal_name: 'Acme' } } }
    const [invoice] = exampleInvoices(unknown, 1)
    expect(invoice?.tax_amount).toBe('21')
    expect(invoice?.content.validation_result).toMatchObject([{ status: 'WARNING' }])
    const american = {
      ...inputs,
      billing_entity: { ...inputs.billing_entity, registered_address: { country: 'US' } },
      customer: { ...inputs.customer, organization: { registered_address: { country: 'US' } } },
    }
    expect(exampleInvoices(american, 1)[0]?.content.validation_result).toMatchObject([{ status: 'ERROR' }])
  })

  test('days are cut in the zone of the customer', () => {
    const inputs = exampleInputs({ start: '2026-02-28T23:00:00Z', items: [recurring('100')] })
    const [invoice] = exampleInvoices({ ...inputs, customer: { ...inputs.customer, timezone: 'Europe/Amsterdam' } }, 1)
    expect([invoice?.period_start, invoice?.period_end]).toEqual(['2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z'])
    expect(invoice?.amount_excluding_tax).toBe('100')
    expect(invoice?.invoice_date).toBe('2026-03-30T22:00:00Z')
  })
})

const RUNS = { numRuns: 30 }

describe('laws', () => {
  const price = fc.integer({ min: 0, max: 10_000_000 }).map(units => plain(decimal(units.toString()).div('10000')))
  const example = fc.record({
    start: fc
      .integer({ min: 0, max: 400 })
      .map(days => `${new Date(Date.UTC(2025, 0, 1 + days)).toISOString().slice(0, 19)}Z`),
    fixed: fc.array(fc.tuple(price, fc.boolean()), { maxLength: 3 }),
    unit: fc.array(price, { maxLength: 3 }),
    used: fc.integer({ min: 0, max: 1_000_000 }).map(String),
    rounding_mode: fc.constantFrom('DEFAULT', 'UNROUNDED'),
    billing_time: fc.constantFrom('CALENDAR' as const, 'EXACT' as const),
    amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
  })

  const built = (given: {
    start: string
    fixed: [string, boolean][]
    unit: string[]
    used: string
    rounding_mode: string
    billing_time: 'CALENDAR' | 'EXACT'
    amountType: 'EXCLUDING_TAX' | 'INCLUDING_TAX'
  }) => {
    const items = [
      ...given.fixed.map(([quantity, billing_in_advance]) => recurring(quantity, { billing_in_advance })),
      ...given.unit.map(quantity => metered([{ amount: eur(quantity) }])),
    ]
    const base = exampleInputs({
      start: given.start,
      items,
      amountType: given.amountType,
      subscription: { billing_time: given.billing_time },
    })
    const inputs = {
      ...base,
      platform: {
        ...base.platform,
        rounding_settings: [{ rounding_target: 'INVOICE', rounding_mode: given.rounding_mode }],
      },
    }
    return { inputs, invoices: exampleInvoices(inputs, 3, given.used) }
  }

  test('summaries and, rounded, lines add up to the totals; net and tax to gross', () => {
    fc.assert(
      fc.property(example, given => {
        for (const invoice of built(given).invoices) {
          const summary = (name: 'base_amount' | 'tax_amount' | 'total_amount') =>
            plain(sum(invoice.content.tax_categories.map(each => decimal(each[name].quantity))))
          expect(summary('base_amount')).toBe(invoice.amount_excluding_tax)
          expect(summary('tax_amount')).toBe(invoice.tax_amount)
          expect(summary('total_amount')).toBe(invoice.amount_including_tax)
          if (given.rounding_mode !== 'DEFAULT') continue
          const lines = invoice.content.periods.flatMap(period => period.groups.flatMap(group => group.lines))
          expect(plain(sum(lines.map(line => decimal(line.amount_excluding_tax.quantity))))).toBe(
            invoice.amount_excluding_tax,
          )
          expect(plain(sum(lines.map(line => decimal(line.amount_including_tax.quantity))))).toBe(
            invoice.amount_including_tax,
          )
        }
      }),
      RUNS,
    )
  })

  test('the same inputs give the same invoices byte for byte, whatever order they were read in', () => {
    fc.assert(
      fc.property(example, given => {
        const { inputs, invoices } = built(given)
        const again = built(structuredClone(given))
        expect(JSON.stringify(again.invoices)).toBe(JSON.stringify(invoices))
        expect(inputsHashOf(again.inputs)).toBe(inputsHashOf(inputs))
        const shuffled = { ...inputs, product_items: inputs.product_items.toReversed() }
        expect(JSON.stringify(exampleInvoices(shuffled, 3, given.used))).toBe(JSON.stringify(invoices))
      }),
      RUNS,
    )
  })

  test('every line has an id of its own over all invoices of a subscription', () => {
    fc.assert(
      fc.property(example, given => {
        const ids = built(given).invoices.flatMap(invoice =>
          invoice.content.periods.flatMap(period => period.groups.flatMap(group => group.lines.map(line => line.id))),
        )
        expect(new Set(ids).size).toBe(ids.length)
      }),
      RUNS,
    )
  })
})
