// The worked scenarios of the semantics, and how invoices are built.
import { describe, expect, test } from 'vitest'
import { invoiceWindows } from '../terms/windows.ts'
import {
  type Example,
  eur,
  exampleInputs,
  exampleInvoice,
  exampleInvoices,
  linesOf,
  metered,
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
