// Each customer's part of a usage line: sub lines sum to their line whatever the price, and late ones sum to what an
// invoice with all usage would show.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { NamedCustomer } from '../../invoices/document/parties.ts'
import type { LineView } from '../../invoices/schema.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type Arrival, closeInTurn, linesIn } from '../testing/example-closing.ts'
import { type Example, type ExampleItem, eur, exampleInputs, metered, recurring } from '../testing/example-inputs.ts'
import { anyPrice, anyTiers } from '../testing/example-prices.ts'

const START = '2026-03-01T00:00:00Z'
const named = (id: string, legal_name: string | null): NamedCustomer => ({
  id,
  reference: `ref-${id}`,
  type: 'ORGANIZATION',
  individual: null,
  organization: legal_name === null ? null : { legal_name },
})
const CUSTOMERS = [named('alpha', 'Alpha'), named('beta', null), named('customer', 'Acme')]
const FLAT = [{ amount: eur('0.10') }]
const TIERS = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.08') }]

/** The inputs with sub lines of customers, or without. */
function inputsOf(example: Partial<Example>, shared = true): BillingInputs {
  const inputs = exampleInputs({ start: START, items: [metered(TIERS, { pricing_type: 'TIERED' })], ...example })
  if (!shared) return inputs
  return {
    ...inputs,
    subscription: { ...inputs.subscription, display_invoice_sub_lines_per_processing_only_customer: true },
    sub_line_customers: CUSTOMERS,
  }
}

const of = (customerId: string, quantity: string, more: Partial<Arrival> = {}): Arrival => ({
  day: 3,
  quantity,
  after: 0,
  customerId,
  ...more,
})
const subsOf = (line: LineView | undefined) =>
  (line?.sub_lines ?? []).map(sub => [
    sub.processing_only_customer_id,
    sub.details.meter_value?.number,
    sub.details.meter_value_share_of_total,
    sub.details.amount.quantity,
  ])

describe('sub lines of customers', () => {
  const arrivals = [of('beta', '1500'), of('customer', '750'), of('alpha', '600'), of('alpha', '150')]

  test('the own customer first, then by id, each with its usage, its share and its part of the amount', () => {
    const [march] = closeInTurn(inputsOf({}), arrivals, 1)
    const [line] = march ? linesIn(march) : []
    // 1000 at 0.10 and 2000 at 0.08, for all of them together.
    expect(line?.amount_excluding_tax).toEqual(eur('260.00'))
    expect(line?.details.description).toBe('1000 × 0.1 EUR; 2000 × 0.08 EUR')
    expect(line?.sub_lines?.[0]).toEqual({
      sub_line_order: 0,
      description: 'Acme',
      processing_only_customer_resource_id: 'customer',
      processing_only_customer_id: 'customer',
      details: {
        amount: eur('65.00'),
        pricing_currency: 'EUR',
        pricing_amount: eur('65'),
        meter_value: { id: 'calc', reference: 'tokens_sum', type: 'NUMBER', number: '750', count: '1' },
        meter_value_share_of_total: '0.25',
        description: '0.25 of the usage',
      },
    })
    expect(subsOf(line).slice(1)).toEqual([
      ['alpha', '750', '0.25', '65.00'],
      ['beta', '1500', '0.5', '130.00'],
    ])
    expect(line?.sub_lines?.map(sub => sub.description)).toEqual(['Acme', 'Alpha', 'ref-beta'])
    const { content } = march?.columns ?? {}
    expect(content?.display_invoice_sub_lines_per_processing_only_customer).toBe(true)
    expect(content?.processing_only_customers?.map(({ id }) => id)).toEqual(['alpha', 'beta'])
  })

  test('without the flag the invoice is unchanged, byte for byte, and with it only the additions differ', () => {
    const items = [metered(FLAT), recurring('100'), metered(TIERS, { pricing_type: 'TIERED' })]
    const json = (shared: boolean): string[] =>
      closeInTurn(inputsOf({ items }, shared), arrivals, 2).map(({ columns }) => JSON.stringify(columns))
    const [off, on] = [json(false), json(true)]
    for (const text of off) expect(text).not.toMatch(/processing_only|share_of_total/)
    expect(on[0]).toMatch(/"processing_only_customer_id":"alpha"/)
    const without = (text: string): string =>
      JSON.stringify(
        JSON.parse(text, (name, value: unknown) =>
          /^(sub_lines|display_invoice_sub_lines.*|processing_only_customers)$/.test(name) ? undefined : value,
        ),
      )
    expect(on.map(without)).toEqual(off.map(without))
    // A line that is not metered still has none.
    const [march] = closeInTurn(inputsOf({ items: [recurring('100')] }), arrivals, 1)
    expect(march && linesIn(march).map(line => line.sub_lines)).toEqual([undefined])
  })

  test('a line without usage has none, and a line whose quantities give no proportions is shared by events', () => {
    const minimum = metered([{ amount: eur('0.1'), minimum_amount: eur('5') }])
    const [nobody] = closeInTurn(inputsOf({ items: [minimum] }), [], 1)
    expect(nobody && linesIn(nobody).map(line => [line.amount_excluding_tax.quantity, line.sub_lines])).toEqual([
      ['5.00', undefined],
    ])
    const correcting = [of('alpha', '-10'), of('beta', '20'), of('beta', '30')]
    const [march] = closeInTurn(inputsOf({ items: [minimum] }), correcting, 1)
    const [line] = march ? linesIn(march) : []
    expect(subsOf(line)).toEqual([
      ['alpha', '-10', '0.333333333333', '1.67'],
      ['beta', '50', '0.666666666667', '3.33'],
    ])
    expect(line?.sub_lines?.[0]?.details.description).toBe('0.333333333333 of the events')
  })

  test('a minimum billed to no customer is deducted from none', () => {
    const minimum = metered([{ amount: eur('0.1'), minimum_amount: eur('5') }])
    const late = [of('alpha', '50', { after: 1 }), of('beta', '50', { after: 1 })]
    const [, april] = closeInTurn(inputsOf({ items: [minimum] }), late, 2)
    const [line] = april ? linesIn(april) : []
    expect(line?.details.pricing_amount).toEqual(eur('5'))
    expect(line?.sub_lines?.map(({ details }) => details.pricing_amount)).toEqual([eur('2.5'), eur('2.5')])
  })

  test('a deduction is shared below zero', () => {
    const deduction = typed(metered(FLAT), 'DEDUCTION')
    const [march] = closeInTurn(inputsOf({ items: [deduction] }), [of('alpha', '100'), of('beta', '300')], 1)
    const [line] = march ? linesIn(march) : []
    expect(subsOf(line).map(([id, , , amount]) => [id, amount])).toEqual([
      ['alpha', '-10.00'],
      ['beta', '-30.00'],
    ])
  })

  test('money is shared in its currency', () => {
    const [calculation] = exampleInputs({ start: START, items: [] }).calculations
    if (!calculation) throw new Error('there is a calculation')
    const inputs = { calculations: [{ ...calculation, value_type: 'AMOUNT' as const }] }
    // Usage in another currency belongs to no customer.
    const sent = [of('alpha', '70'), of('alpha', '0', { currency: 'USD' }), of('beta', '30')]
    const [march] = closeInTurn(inputsOf({ items: [metered([{ percentage: '1.5' }])], inputs }), sent, 1)
    const [line] = march ? linesIn(march) : []
    expect(line?.sub_lines?.map(({ details }) => [details.meter_value?.amount, details.amount])).toEqual([
      [eur('70'), eur('1.05')],
      [eur('30'), eur('0.45')],
    ])
  })

  test('late usage of one customer changes the parts of the others as if it had arrived in time', () => {
    const late = [of('alpha', '1000'), of('beta', '1000', { after: 1 })]
    const [march, april] = closeInTurn(inputsOf({}), late, 2)
    expect(march && linesIn(march).map(subsOf)).toEqual([[['alpha', '1000', '1', '100.00']]])
    const [line] = april ? linesIn(april) : []
    expect(line?.late_for_invoice_id).toBe('invoice0')
    expect(line?.amount_excluding_tax.quantity).toBe('80.00')
    expect(subsOf(line)).toEqual([
      ['alpha', '1000', '0.5', '-10.00'],
      ['beta', '1000', '0.5', '90.00'],
    ])
    expect(line?.sub_lines?.[0]?.details.previously_billed).toMatchObject({
      pricing_amount: eur('100'),
      meter_value: { number: '1000', count: '1' },
    })
  })

  test('a pricing period over several invoices shows what each customer has of the whole, less what was charged before', () => {
    const quarter = {
      pricing_period: { type: 'MONTH' as const, value: 3 },
      billing_period: { type: 'MONTH' as const, value: 1 },
    }
    const items = [metered(TIERS, { pricing_type: 'TIERED', ...quarter })]
    const subscription = { billing_time: 'EXACT' as const }
    const sent = [of('alpha', '1000'), of('beta', '1000', { day: 40 })]
    const [, april] = closeInTurn(inputsOf({ items, subscription }), sent, 2)
    const [line] = april ? linesIn(april) : []
    expect(line?.amount_excluding_tax.quantity).toBe('80.00')
    expect(subsOf(line)).toEqual([
      ['alpha', '1000', '0.5', '-10.00'],
      ['beta', '1000', '0.5', '90.00'],
    ])
    expect(line?.sub_lines?.map(sub => sub.details.previously_billed?.pricing_amount)).toEqual([eur('100'), eur('0')])
  })

  test('late usage of a time whose invoice had no sub lines is shared as its line is', () => {
    const late = [of('alpha', '1000'), of('beta', '1000', { after: 1 })]
    const inputs = inputsOf({})
    const off = { ...inputs.subscription, display_invoice_sub_lines_per_processing_only_customer: false }
    const [march] = closeInTurn({ ...inputs, subscription: off }, late, 1)
    expect(march?.counted.some(charge => 'parts' in charge)).toBe(false)
    const [, april] = closeInTurn(inputs, late, 2, march)
    const [line] = april ? linesIn(april) : []
    expect(subsOf(line)).toEqual([
      ['alpha', '1000', '0.5', '40.00'],
      ['beta', '1000', '0.5', '40.00'],
    ])
    expect(line?.sub_lines?.map(({ details }) => details.pricing_amount)).toEqual([eur('40'), eur('40')])
  })
})

const INVOICES = 4
const arrival = fc.record({
  day: fc.integer({ min: 0, max: 30 }),
  quantity: fc.integer({ min: 0, max: 9_999 }).map(units => plain(decimal(String(units)).div(decimal('100')))),
  after: fc.integer({ min: 0, max: INVOICES - 1 }),
  customerId: fc.constantFrom('customer', 'alpha', 'beta', 'gamma'),
})
const inTime = (arrivals: readonly Arrival[]): Arrival[] => arrivals.map(each => ({ ...each, after: 0 }))
// One customer has usage from the start: a minimum that no customer was billed cannot be deducted from any.
const arrivals = fc
  .array(arrival, { minLength: 1, maxLength: 12 })
  .map(list => list.map((each, index) => (index === 0 ? { ...each, after: 0, quantity: '1' } : each)))
const kinds = fc.record({
  amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
  rounding_mode: fc.constantFrom('DEFAULT', 'UNROUNDED'),
  type: fc.constantFrom('REVENUE' as const, 'DEDUCTION' as const),
})
const typed = (item: ExampleItem, type: 'REVENUE' | 'DEDUCTION'): ExampleItem => ({
  ...item,
  item: { ...item.item, type },
})

function linesOf(example: Partial<Example>, rounding_mode: string, sent: readonly Arrival[], invoices = INVOICES) {
  const inputs = inputsOf(example)
  const rounding_settings = [{ rounding_target: 'INVOICE', rounding_mode }]
  const platform = { ...inputs.platform, rounding_settings }
  return closeInTurn({ ...inputs, platform }, sent, invoices).flatMap(linesIn)
}

/** What each customer was billed on all lines together; customers billed nothing are left out. */
function askedOf(lines: readonly LineView[], name: 'amount' | 'pricing_amount'): Record<string, string> {
  const asked = new Map<string, string>()
  for (const { processing_only_customer_id: id = '', details } of lines.flatMap(line => line.sub_lines ?? []))
    asked.set(id, plain(decimal(asked.get(id) ?? '0').plus(decimal(details[name].quantity))))
  return Object.fromEntries([...asked].filter(([, amount]) => amount !== '0').sort())
}

function expectWhole({ details, sub_lines: subs }: LineView): void {
  if (!subs) return
  for (const name of ['amount', 'pricing_amount'] as const)
    expect(plain(sum(subs.map(sub => decimal(sub.details[name].quantity))))).toBe(
      plain(decimal(details[name].quantity)),
    )
  expect(plain(sum(subs.map(sub => decimal(sub.details.meter_value_share_of_total ?? '0'))))).toBe('1')
  expect(plain(sum(subs.map(sub => decimal(sub.details.meter_value?.number ?? '0'))))).toBe(details.meter_value?.number)
}

describe('whatever the price', () => {
  test('sub lines sum to their line, and each customer is billed late what it would be billed in time', () => {
    fc.assert(
      fc.property(anyPrice, arrivals, kinds, (item, sent, { amountType, rounding_mode, type }) => {
        const example = { items: [typed(item, type)], amountType }
        const lines = linesOf(example, rounding_mode, sent)
        for (const line of lines) expectWhole(line)
        const once = linesOf(example, rounding_mode, inTime(sent))
        for (const name of ['amount', 'pricing_amount'] as const)
          expect(askedOf(lines, name)).toEqual(askedOf(once, name))
      }),
      { numRuns: 120 },
    )
  })

  test('sub lines sum to their line even when a pricing period spans several invoices', () => {
    const quarter = {
      pricing_period: { type: 'MONTH' as const, value: 3 },
      billing_period: { type: 'MONTH' as const, value: 1 },
    }
    const wide = anyTiers.map(bands => metered(bands, { pricing_type: 'TIERED', ...quarter }))
    const spread = fc.array(
      arrival.chain(each => fc.nat(120).map(day => ({ ...each, day }))),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(wide, spread, kinds, (item, sent, { amountType, rounding_mode, type }) => {
        const lines = linesOf({ items: [typed(item, type)], amountType }, rounding_mode, sent, 6)
        for (const line of lines) expectWhole(line)
      }),
      { numRuns: 80 },
    )
  })
})
