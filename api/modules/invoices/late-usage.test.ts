// Late usage against what one invoice in time would have asked: whatever the price, the order and the way events are spread
// over invoices, all that is asked for a period sums to the same.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../shared/decimal.ts'
import { priceInvoice } from './build-invoice.ts'
import { chargesOf, positionsOf } from './charges.ts'
import type { ClosedUsage } from './closed-usage.ts'
import { type Example, eur, exampleInputs, metered, plainUsage } from './example-inputs.ts'
import { type LateCharge, lateCharge, lateUnits, positionOf } from './late-usage.ts'
import { usageNeeds } from './usage-needs.ts'
import { at, invoiceWindows } from './windows.ts'

const START = '2026-03-01T00:00:00Z'
const DAY_MS = 86_400_000

/** An event of March: when, how much, and after how many closed invoices it comes. */
type Arrival = { readonly day: number; readonly quantity: string; readonly after: number }

/** What the invoices from March on print for service that starts before May: each in turn closed with what has come so far. */
function asked(example: Example, arrivals: readonly Arrival[], invoices: number): { parts: string[]; printed: string } {
  const inputs = exampleInputs(example)
  const closed: ClosedUsage[] = []
  const parts: string[] = []
  for (const window of invoiceWindows(inputs)) {
    if (closed.length >= invoices) break
    if (window.arrears === null) continue
    const late = lateUnits(closed).flatMap((unit): LateCharge[] => {
      const position = positionOf(positionsOf(inputs), unit)
      return position ? [lateCharge(position, unit, String(window.cutAt))] : []
    })
    const charges = [...chargesOf(inputs, window, new Set()), ...late.map(({ charge }) => charge)]
    const usage = new Map(
      usageNeeds(charges).map(({ key, interval }) => {
        const mine = arrivals.filter(({ day, after }) => {
          const time = at(START) + day * DAY_MS
          return after <= closed.length && interval.start <= time && time < interval.end
        })
        return [key, plainUsage(plain(sum(mine.map(({ quantity }) => decimal(quantity)))), mine.length)]
      }),
    )
    const { built, counted } = priceInvoice(inputs, { window, billed: new Set(), usage, late, finalisedAt: null })
    closed.push({
      invoice_id: `invoice${closed.length}`,
      subscription_id: 'subscription',
      positions: [],
      customer_keys: [],
      names_hash: null,
      charges: counted,
    })
    const including = example.amountType === 'INCLUDING_TAX'
    for (const line of built.content.periods.flatMap(period => period.groups.flatMap(group => group.lines)))
      parts.push((including ? line.amount_including_tax : line.amount_excluding_tax).quantity)
  }
  return { parts, printed: plain(sum(parts.map(decimal))) }
}

const amountText = fc.integer({ min: 0, max: 99_999 }).map(units => plain(decimal(String(units)).div(decimal('10000'))))
const bandOf = (top: number | null, amount: string, more: object) => ({
  amount: eur(amount),
  ...more,
  ...(top === null ? {} : { tier_top_bound: { number: String(top) } }),
})
const limits = fc.oneof(
  fc.constant({}),
  amountText.map(text => ({ minimum_amount: eur(text) })),
  amountText.map(text => ({ maximum_amount: eur(text) })),
  amountText.map(text => ({ fixed_amount: eur(text) })),
  fc.constant({ block_size: { number: '7' } }),
)
const tiers = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 3 }),
    fc.array(amountText, { minLength: 4, maxLength: 4 }),
  )
  .map(([tops, prices]) =>
    [...tops.toSorted((a, b) => a - b), null].map((top, index) => bandOf(top, prices[index] ?? '0', {})),
  )
const price = fc.oneof(
  fc.tuple(amountText, limits).map(([text, more]) => metered([bandOf(null, text, more)])),
  fc
    .tuple(fc.constantFrom('TIERED', 'TOP_TIERED', 'STAIR_STEP'), tiers)
    .map(([pricing_type, bands]) =>
      metered(
        pricing_type === 'STAIR_STEP' ? bands.map(({ amount, ...band }) => ({ ...band, fixed_amount: amount })) : bands,
        { pricing_type },
      ),
    ),
)
const INVOICES = 4
const arrival = fc.record({
  day: fc.integer({ min: 0, max: 30 }),
  quantity: fc.integer({ min: 1, max: 9_999 }).map(units => plain(decimal(String(units)).div(decimal('100')))),
  after: fc.integer({ min: 0, max: INVOICES - 1 }),
})
const inTime = (arrivals: readonly Arrival[]): Arrival[] => arrivals.map(each => ({ ...each, after: 0 }))

describe('all that is asked for a period', () => {
  test.each(['EXCLUDING_TAX', 'INCLUDING_TAX'] as const)(
    'is what one invoice in time asks, to the cent, %s',
    amountType => {
      fc.assert(
        fc.property(price, fc.array(arrival, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
          const example: Example = { start: START, items: [item], amountType }
          expect(asked(example, arrivals, INVOICES).printed).toBe(asked(example, inTime(arrivals), INVOICES).printed)
        }),
        { numRuns: 150 },
      )
    },
  )

  test('UNROUNDED: exactly, of the lines', () => {
    const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode: 'UNROUNDED' }]
    fc.assert(
      fc.property(price, fc.array(arrival, { minLength: 1, maxLength: 12 }), (item, arrivals) => {
        const platform = { ...exampleInputs({ start: START, items: [] }).platform, rounding_settings }
        const example: Example = { start: START, items: [item], inputs: { platform } }
        expect(asked(example, arrivals, INVOICES).printed).toBe(asked(example, inTime(arrivals), INVOICES).printed)
      }),
      { numRuns: 100 },
    )
  })

  test('over several billing periods of one pricing period: to a cent for each that was closed', () => {
    const quarter = {
      pricing_period: { type: 'MONTH' as const, value: 3 },
      billing_period: { type: 'MONTH' as const, value: 1 },
    }
    const wide = tiers.map(bands => metered(bands, { pricing_type: 'TIERED', ...quarter }))
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
    const [, march, april] = invoiceWindows(inputs)
    if (!march || !april) throw new Error('there are invoices')
    const reading = (window: typeof march, of: readonly LateCharge[], figure: [string, number]) => {
      const charges = [...chargesOf(inputs, window, new Set()), ...of.map(({ charge }) => charge)]
      const usage = new Map(
        usageNeeds(charges).map(({ key, interval }) => [
          key,
          interval.start < at('2026-04-01T00:00:00Z') ? plainUsage(...figure) : plainUsage('0', 0),
        ]),
      )
      return priceInvoice(inputs, { window, billed: new Set(), usage, late: of, finalisedAt: null })
    }
    const [before, after] = quantities
    if (!before || !after) throw new Error('two figures')
    const { counted } = reading(march, [], [...before])
    const of = { subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
    const [unit] = lateUnits([{ invoice_id: 'march', charges: counted, ...of }])
    const position = unit && positionOf(positionsOf(inputs), unit)
    if (!unit || !position) throw new Error('March is a unit')
    return reading(april, [lateCharge(position, unit, 'april')], [...after]).built.amount_excluding_tax
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
