// A discount of an amount, days that UNDO or resume gives back, and a refund of the same period together: in the end its days are
// paid, and the amount is deducted once.
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import { chargesOf } from '../charges/charges.ts'
import { type Deducted, deductedIn } from '../pricing/deducted.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type Example, eur, exampleInputs, metered, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { advanceChargesOf } from './advance-charges.ts'
import { type AdvanceCharge, refundsIn, refundTimes } from './refunds.ts'

type Inactive = BillingInputs['subscription']['inactive_periods']

/** The lines of one invoice after the other, each with what is known of the end and the pauses when it closes. */
function bills(example: Omit<Example, 'start'>, known: readonly Inactive[], usage = '0'): string[][] {
  const billed = new Set<string>()
  const deducted: Deducted[] = []
  const ahead: AdvanceCharge[] = []
  return known.map((inactive_periods, index) => {
    const inputs = exampleInputs({ start: '2026-04-01T00:00:00Z', ...example, subscription: { inactive_periods } })
    const window = [...invoiceWindows(inputs)][index]
    if (!window) throw new Error(`there is no invoice ${index}`)
    const terms = resolveTerms(inputs)
    const needs = usageNeeds(chargesOf(terms, window, billed))
    const invoice = priceInvoice(inputs, {
      terms,
      window,
      billed: new Set(billed),
      deducted,
      usage: new Map(needs.map(need => [need.key, plainUsage(usage)])),
      refunds: refundsIn(window, refundTimes(inputs), ahead),
      finalizedAt: null,
    })
    for (const key of invoice.advanceCharges) billed.add(key)
    deducted.push(...deductedIn(`invoice${index}`, invoice.lines))
    ahead.push(...advanceChargesOf(invoice, `invoice${index}`))
    return invoice.lines
      .filter(line => !decimal(line.amount_excluding_tax).eq('0'))
      .map(({ kind, amount_excluding_tax: amount, source }) =>
        source['refund_of_invoice_id'] === undefined ? `${kind} ${amount}` : `REFUND ${amount}`,
      )
  })
}

const totalOf = (invoices: readonly (readonly string[])[]): string =>
  plain(sum(invoices.flat().map(line => decimal(line.split(' ')[1] ?? ''))))

const cancelled = (day: string, refund = false): Inactive => [
  { type: 'CANCEL', start_at: `${day}T14:00:00Z`, ...(refund ? { refund_advance_charges: true } : {}) },
]
const paused = (from: string, to: string): Inactive => [
  { type: 'PAUSE', start_at: `${from}T10:00:00Z`, end_at: `${to}T10:00:00Z` },
]
const runs: Inactive = []

/** 10.00 a day: April to June have 91 of them. Invoices are monthly. */
const QUARTER = { billing_period: { type: 'MONTH', value: 3 } } as const
const FEE = recurring('910', { billing_in_advance: true, ...QUARTER })
const off = (amount: string): Discount => ({ pricings: [{ ids: ['pricing'], amount: eur(amount) }] })

describe('an amount off a fee ahead that was charged up to an end that was taken back', () => {
  test('is not deducted again from the days that UNDO gives back, and a refund of those is of what was paid', () => {
    const fee = { items: [FEE], schedules: [{ discount: off('91') }] }
    const invoices = bills(fee, [cancelled('2026-06-10'), runs, runs, cancelled('2026-06-20', true)])
    expect(invoices).toEqual([
      ['REVENUE 700', 'DISCOUNT -91'],
      [],
      // The days from 10 June on.
      ['REVENUE 210'],
      // Eleven of these 21 days.
      ['REFUND -110'],
    ])
    expect(totalOf(invoices)).toBe('709')
  })

  test('takes what the first part left of the amount', () => {
    const fee = { items: [FEE], schedules: [{ discount: off('800') }] }
    const invoices = bills(fee, [cancelled('2026-06-10'), runs, runs, cancelled('2026-06-20', true)])
    expect(invoices).toEqual([
      ['REVENUE 700', 'DISCOUNT -700'],
      [],
      ['DISCOUNT -100', 'REVENUE 210'],
      // 110.00 were paid for 21 days.
      ['REFUND -57.62'],
    ])
  })

  test('is free again for usage that shares it, as far as both parts are refunded', () => {
    const shared = { items: [FEE, metered([{ amount: eur('1') }], QUARTER)], schedules: [{ discount: off('800') }] }
    const invoices = bills(shared, [cancelled('2026-06-10'), runs, runs, cancelled('2026-06-05', true)], '500')
    expect(invoices).toEqual([
      ['REVENUE 700', 'DISCOUNT -700'],
      [],
      ['DISCOUNT -100', 'REVENUE 210'],
      // Of the first part 5 of 70 days, and of the rest all: 50.00 and 100.00 of the amount.
      ['REVENUE 500', 'DISCOUNT -150', 'REFUND -110'],
    ])
    // 65 days and the usage, less the amount once.
    expect(totalOf(invoices)).toBe('350')
  })

  test('and of a monthly fee, by the days of the part', () => {
    const monthly = {
      items: [recurring('300', { billing_in_advance: true }), metered([{ amount: eur('1') }])],
      schedules: [{ discount: off('38') }],
    }
    // Charged for 19 days. The cancellation is taken back, and another one ends it after 14.
    const invoices = bills(monthly, [cancelled('2026-04-20'), cancelled('2026-04-15', true)], '100')
    expect(invoices).toEqual([
      ['REVENUE 190', 'DISCOUNT -38'],
      ['REVENUE 100', 'DISCOUNT -10', 'REFUND -40'],
    ])
    // 14 days and the usage, less the amount once.
    expect(totalOf(invoices)).toBe('202')
  })
})

describe('an amount off a fee ahead that was charged without a pause that was taken back', () => {
  test('is deducted from the days that come back as far as a refund on the same invoice frees it', () => {
    const fee = { items: [FEE], schedules: [{ discount: off('91') }] }
    const pause = paused('2026-05-10', '2026-06-10')
    const invoices = bills(fee, [pause, pause, cancelled('2026-05-20', true)])
    expect(invoices).toEqual([
      ['REVENUE 600', 'DISCOUNT -91'],
      [],
      // Ten days come back. 21 of the 60 days are refunded, which frees 31.85 of the amount.
      ['DISCOUNT -31.85', 'REVENUE 100', 'REFUND -178.15'],
    ])
    // 49 days, less the amount once.
    expect(totalOf(invoices)).toBe('399')
  })
})

test('a minimum of the days that came back is refunded by those days', () => {
  const commitment = { pricing_item_configs: [{ ids: ['config0'], amount: eur('1820') }] }
  const fee = { items: [FEE], schedules: [{ discount: off('91'), commitment }] }
  const invoices = bills(fee, [cancelled('2026-06-10'), runs, runs, cancelled('2026-06-20', true)])
  expect(invoices).toEqual([
    // 20.00 a day are committed: 1400.00 for 70 days.
    ['REVENUE 700', 'DISCOUNT -91', 'COMMITMENT 791'],
    [],
    // The quarter costs 1820.00, and 1400.00 of it were charged.
    ['COMMITMENT 210', 'REVENUE 210'],
    // Eleven of 21 days of each.
    ['REFUND -110', 'REFUND -110'],
  ])
  // 80 days at 20.00.
  expect(totalOf(invoices)).toBe('1600')
})
