// Late usage compared with invoices that had all usage in time: whatever the price, the order and the spread of events
// over invoices, the amounts billed for a period have the same sum.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { at } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import { priceInvoice } from '../run/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type Arrival, closeInTurn, linesIn } from '../testing/example-closing.ts'
import { type Example, eur, exampleInputs, metered, plainUsage } from '../testing/example-inputs.ts'
import { anyPrice, anyTiers } from '../testing/example-prices.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from './late-usage.ts'

const START = '2026-03-01T00:00:00Z'

/** What the invoices from March on print for service that starts before May. */
function asked(example: Example, arrivals: readonly Arrival[], invoices: number): { parts: string[]; printed: string } {
  const including = example.amountType === 'INCLUDING_TAX'
  const lines = closeInTurn(exampleInputs(example), arrivals, invoices).flatMap(linesIn)
  const parts = lines.map(line => (including ? line.amount_including_tax : line.amount_excluding_tax).quantity)
  return { parts, printed: plain(sum(parts.map(decimal))) }
}

const INVOICES = 4
const arrival = fc.record({
  day: fc.integer({ min: 0, max: 30 }),
  quantity: fc.integer({ min: 1, max: 9_999 }).map(units => plain(decimal(String(units)).div(decimal('100')))),
  after: fc.integer({ min: 0, max: INVOICES - 1 }),
})
const inTime = (arrivals: readonly Arrival[]): Arrival[] => arrivals.map(each => ({ ...each, after: 0 }))

describe('all that is billed for a period', () => {
  test.each(['EXCLUDING_TAX', 'INCLUDING_TAX'] as const)(
    'equals, to the cent, what one invoice with all usage bills, %s',
    amountType => {
      fc.assert(
        fc.property(anyPrice, fc.array(arrival, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
          const example: Example = { start: START, items: [item], amountType }
          expect(asked(example, arrivals, INVOICES).printed).toBe(asked(example, inTime(arrivals), INVOICES).printed)
        }),
        { numRuns: 150 },
      )
    },
  )

  test('UNROUNDED: exactly, by the sum of the lines', () => {
    const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }]
    fc.assert(
      fc.property(anyPrice, fc.array(arrival, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
        const platform = { ...exampleInputs({ start: START, items: [] }).platform, rounding_settings }
        const example: Example = { start: START, items: [item], inputs: { platform } }
        expect(asked(example, arrivals, INVOICES).printed).toBe(asked(example, inTime(arrivals), INVOICES).printed)
      }),
      { numRuns: 100 },
    )
  })

  test('over several billing periods of one pricing period: within a cent for each closed one', () => {
    const quarter = {
      pricing_period: { type: 'MONTH' as const, value: 3 },
      billing_period: { type: 'MONTH' as const, value: 1 },
    }
    const wide = anyTiers.map(bands => metered(bands, { pricing_type: 'TIERED', ...quarter }))
    const spread = fc.record({
      day: fc.integer({ min: 0, max: 120 }),
      quantity: fc.integer({ min: 1, max: 9_999 }).map(units => plain(decimal(String(units)).div(decimal('100')))),
      after: fc.integer({ min: 0, max: 5 }),
    })
    fc.assert(
      fc.property(wide, fc.array(spread, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
        const example: Example = { start: START, items: [item] }
        const difference = decimal(asked(example, arrivals, 6).printed).minus(
          decimal(asked(example, inTime(arrivals), 6).printed),
        )
        expect(difference.abs().lte(decimal('0.05'))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('what less usage gives back', () => {
  const example: Example = { start: START, items: [metered([{ amount: eur('0.1') }])] }
  const late = (quantities: readonly [string, number][]) => {
    const inputs = exampleInputs(example)
    const terms = resolveTerms(inputs)
    const [, march, april] = invoiceWindows(inputs)
    if (!march || !april) throw new Error('there are invoices')
    const reading = (window: typeof march, of: readonly LateCharge[], figure: [string, number]) => {
      const charges = [...chargesOf(terms, window, new Set()), ...of.map(({ charge }) => charge)]
      const usage = new Map(
        usageNeeds(charges).map(({ key, interval }) => [
          key,
          interval.start < at('2026-04-01T00:00:00Z') ? plainUsage(...figure) : plainUsage('0', 0),
        ]),
      )
      return priceInvoice(inputs, { terms, window, billed: new Set(), usage, late: of, finalizedAt: null })
    }
    const [before, after] = quantities
    if (!before || !after) throw new Error('two figures')
    const { counted } = reading(march, [], [...before])
    const of = { subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
    const [unit] = lateUnits([{ invoice_id: 'march', charges: counted, ...of }])
    const term = unit && termOf(terms, unit)
    if (!unit || !term) throw new Error('March is a unit')
    return reading(april, [lateCharge(term, unit, 'april')], [...after]).columns.amount_excluding_tax
  }

  test.each<[string, [string, number], [string, number], string]>([
    ['fell', ['100', 10], ['60', 9], '0'],
    ['fell, though there are more events', ['100', 10], ['60', 12], '0'],
    ['stayed', ['100', 10], ['100', 10], '0'],
    ['rose', ['100', 10], ['120', 11], '2'],
    ['was corrected upwards', ['100', 10], ['120', 10], '2'],
  ])('usage that %s', (_, before, after, expected) => {
    expect(late([before, after])).toBe(expected)
  })
})
