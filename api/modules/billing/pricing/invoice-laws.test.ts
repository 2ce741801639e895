// What holds for the invoices of any prices, usage and settings.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { inputsHashOf } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'

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
