// Late usage compared with invoices that had all usage in time: whatever the price, the order and the spread of events
// over invoices, the amounts billed for a period have the same sum.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { at } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type Arrival, closeInTurn, linesIn } from '../testing/example-closing.ts'
import { type Example, type ExampleItem, eur, exampleInputs, metered, plainUsage } from '../testing/example-inputs.ts'
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

describe('usage that is priced in credits', () => {
  const credits = (quantity: string) => ({ credits: { quantity, credit_type_id: 'crty' } })
  const needing = (pricing_type: string, bands: readonly object[]): ExampleItem =>
    metered(bands as ExampleItem['bands'], { pricing_type })
  const selling: ExampleItem = {
    item: { model_type: 'CREDITS', credits: { credit_type_id: 'crty' } },
    config: { pricing_type: 'FLAT' },
    bands: [{ amount: eur('0.5') }],
  }

  test('costs as many credits as if it had arrived in time, and what wallets lack is charged', () => {
    const tier = (top: string | null, text: string) => ({ ...credits(text), tier_top_bound: top && { number: top } })
    const priced = fc.oneof(
      fc.constant(needing('FLAT', [credits('2')])),
      fc.constantFrom('TIERED', 'TOP_TIERED').map(type => needing(type, [tier('20', '4'), tier(null, '2')])),
    )
    const whole = arrival.map(each => ({ ...each, quantity: `${Math.ceil(Number(each.quantity))}` }))
    fc.assert(
      fc.property(priced, fc.array(whole, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
        const example: Example = { start: START, items: [item, selling] }
        // With TOP_TIERED more usage may cost less: what was charged by then is not given back.
        const [late, all] = [asked(example, arrivals, INVOICES), asked(example, inTime(arrivals), INVOICES)]
        const isSame = late.printed === all.printed
        expect(isSame || (item.config?.pricing_type === 'TOP_TIERED' && decimal(late.printed).gt(all.printed))).toBe(
          true,
        )
      }),
      { numRuns: 100 },
    )
  })

  test('draws first what its own time had cost beyond the closed invoice, then what this invoice needs', () => {
    const inputs = exampleInputs({ start: START, items: [needing('FLAT', [credits('2')]), selling] })
    const terms = resolveTerms(inputs)
    const [, march, april] = invoiceWindows(inputs)
    if (!march || !april) throw new Error('there are invoices')
    const price = (window: typeof march, late: readonly LateCharge[], [inMarch, inApril, held]: readonly string[]) => {
      const needs = usageNeeds([...chargesOf(terms, window, new Set()), ...late.map(({ charge }) => charge)])
      const used = (start: number) => (start < at('2026-04-01T00:00:00Z') ? inMarch : inApril) ?? '0'
      const usage = new Map(needs.map(({ key, interval }) => [key, plainUsage(used(interval.start), 1)]))
      const parts = [{ walletId: 'w', creditTypeId: 'crty', onlyFor: null, quantity: decimal(held ?? '0') }]
      return priceInvoice(inputs, { terms, window, billed: new Set(), usage, late, credits: parts, finalizedAt: null })
    }
    const { counted } = price(march, [], ['10', '0', '15'])
    expect(counted.map(charge => charge.credits)).toEqual(['20'])
    // Invoices that were closed before they stored credits are priced again from what they counted.
    for (const charges of [counted, counted.map(({ credits: _stored, ...charge }) => charge)]) {
      const of = { subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
      const [unit] = lateUnits([{ invoice_id: 'march', charges, ...of }])
      const term = unit && termOf(terms, unit)
      if (!unit || !term) throw new Error('March is a unit')
      const invoice = price(april, [lateCharge(term, unit, 'april')], ['13', '4', '9'])
      const lines = linesIn(invoice).map(line => [
        line.late_for_invoice_id ?? null,
        line.meter_value?.number ?? null,
        line.amount_excluding_tax.quantity,
        line.details.wallet_balances?.map(each => each.used_balance.credits?.quantity) ?? [],
      ])
      // 3 late calls cost 6, and 4 in time 8: the wallet has 9, and 5 are sold at 0.50.
      expect(lines.toSorted()).toEqual(
        [
          [null, '4', '0.00', ['3']],
          [null, null, '2.50', []],
          ['march', '3', '0.00', ['6']],
        ].toSorted(),
      )
      expect(invoice.columns.content.validation_result).toEqual([])
    }
  })
})

describe('what less usage gives back', () => {
  type Figure = readonly [quantity: string, events: number]
  /** The invoice of April, after that of March counted `before` and the usage of March became `after`. */
  const april = (before: Figure, after: Figure, item = metered([{ amount: eur('0.1') }])) => {
    const inputs = exampleInputs({ start: START, items: [item] })
    const terms = resolveTerms(inputs)
    const [, march, next] = invoiceWindows(inputs)
    if (!march || !next) throw new Error('there are invoices')
    const reading = (window: typeof march, of: readonly LateCharge[], figure: Figure) => {
      const charges = [...chargesOf(terms, window, new Set()), ...of.map(({ charge }) => charge)]
      const usage = new Map(
        usageNeeds(charges).map(({ key, interval }) => [
          key,
          interval.start < at('2026-04-01T00:00:00Z') ? plainUsage(...figure) : plainUsage('0', 0),
        ]),
      )
      return priceInvoice(inputs, { terms, window, billed: new Set(), usage, late: of, finalizedAt: null })
    }
    const { counted } = reading(march, [], before)
    const of = { subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
    const [unit] = lateUnits([{ invoice_id: 'march', charges: counted, ...of }])
    const term = unit && termOf(terms, unit)
    if (!unit || !term) throw new Error('March is a unit')
    return reading(next, [lateCharge(term, unit, 'april')], after)
  }

  test.each<[string, Figure, Figure, string]>([
    ['fell', ['100', 10], ['60', 9], '0'],
    ['fell, though there are more events', ['100', 10], ['60', 12], '0'],
    ['stayed', ['100', 10], ['100', 10], '0'],
    ['rose', ['100', 10], ['120', 11], '2'],
    ['was corrected upwards', ['100', 10], ['120', 10], '2'],
  ])('usage that %s', (_, before, after, expected) => {
    expect(april(before, after).columns.amount_excluding_tax).toBe(expected)
  })

  test.each<[string, Figure]>([
    ['corrected', ['0', 1]],
    ['deleted', ['0', 0]],
  ])('an event that took usage away and is %s is on the next invoice, also where that costs nothing', (_, after) => {
    const item = metered([{ amount: eur('0.1'), minimum_amount: eur('5') }], { pricing_type: 'FLAT' })
    const late = linesIn(april(['-8', 1], after, item)).filter(line => line.late_for_invoice_id)
    expect(late.map(line => [line.meter_value?.number, line.amount_excluding_tax.quantity])).toEqual([['8', '0.00']])
  })

  test.each<[string, Figure, string]>([
    ['corrected', ['12', 2], '-0.8'],
    ['deleted', ['12', 1], '0'],
  ])('where more usage costs less, and an event was %s', (_, after, expected) => {
    const bands = [{ tier_top_bound: { number: '10' }, amount: eur('0.2') }, { amount: eur('0.1') }]
    const item = metered(bands, { pricing_type: 'TOP_TIERED' })
    expect(april(['10', 2], after, item).columns.amount_excluding_tax).toBe(expected)
  })
})
