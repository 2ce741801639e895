// What can be ordered on demand, and what it costs (contract: Units on one-off items; semantics 3.2, 5.6).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, roundHalfUp } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at } from '../../../../shared/time.ts'
import { NO_PAYERS, type Payers } from '../../invoices/settlement/funds.ts'
import type { OnDemandItem, OnDemandTerms } from '../../invoices/table.ts'
import type { ConfigInput, ScheduleInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import {
  type Example,
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoices,
  recurring,
} from '../testing/example-inputs.ts'
import { computeOnDemand } from './compute-on-demand.ts'
import { chargesOfOrder, checkOrder } from './order.ts'

const START = '2026-01-01T00:00:00Z'
const bought = (config: Partial<ConfigInput>, bands: ExampleItem['bands']): ExampleItem => ({
  item: { model_type: 'ONE_OFF' },
  config: { on_demand: true, ...config },
  bands,
})
/** priced0 to priced4: a pack, units, an amount of choice, one that is billed once by the cycle, and a fee. */
const ITEMS: readonly ExampleItem[] = [
  bought({ pricing_type: 'FIXED' }, [{ fixed_amount: eur('50') }]),
  bought({ pricing_type: 'FLAT', default_units: { number: '9' } }, [{ fixed_amount: eur('5'), amount: eur('2.50') }]),
  bought({ pricing_type: 'FLEXIBLE' }, [{ minimum_amount: eur('10'), maximum_amount: eur('500') }]),
  { item: { model_type: 'ONE_OFF' }, bands: [{ fixed_amount: eur('99') }] },
  recurring('100', { billing_in_advance: true }),
]

const inputsOf = (example: Partial<Example> = {}) => exampleInputs({ start: START, items: ITEMS, ...example })
const orderOf = (items: readonly OnDemandItem[], start_at = '2026-01-20T10:00:00Z'): OnDemandTerms => ({
  id: 'order',
  pricing_plan_schedule_id: 'schedule0',
  start_at,
  service_start: `${start_at.slice(0, 10)}T00:00:00Z`,
  service_end: '2026-01-21T00:00:00Z',
  items,
})
const units = (number: string): OnDemandItem => ({ pricing_item_id: 'priced1', units: { number } })
const chosen = (quantity: string, currency = 'EUR'): OnDemandItem => ({
  pricing_item_id: 'priced2',
  flexible_amount: { quantity, currency },
})
const PACK: OnDemandItem = { pricing_item_id: 'priced0' }

function faultOf(items: readonly OnDemandItem[], example: Partial<Example> = {}, startAt?: string): string | null {
  const inputs = inputsOf(example)
  try {
    checkOrder({ inputs, terms: resolveTerms(inputs), order: orderOf(items, startAt) })
    return null
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return `${error.code} ${error.details.field}`
  }
}

function invoiceOf(items: readonly OnDemandItem[], example: Partial<Example> = {}, payers: Payers = NO_PAYERS) {
  const inputs = inputsOf(example)
  const terms = resolveTerms(inputs)
  const order = orderOf(items)
  const charges = chargesOfOrder({ terms, order })
  if (charges === null) throw new Error('the schedule sells them')
  return computeOnDemand(inputs, { terms, order, bought: charges, payers, added: [], finalizedAt: null }).columns
}
const linesOf = (columns: ReturnType<typeof invoiceOf>) =>
  columns.content.periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))
const shown = (columns: ReturnType<typeof invoiceOf>) => [
  ...linesOf(columns).map(line => `${line.type} ${line.amount_excluding_tax.quantity}`),
  columns.tax_amount,
]

test('is paid by money before tax, and by a balance after it; an order that fills a wallet is paid by none', () => {
  const wallet = { currency: 'EUR', available: decimal('30') }
  const payers: Payers = {
    ...NO_PAYERS,
    wallets: [{ walletId: 'before', taxCategory: 'STANDARD', ...wallet }],
    balances: [{ walletId: 'after', walletTypeId: 'type', ...wallet }],
  }
  const paid = invoiceOf([PACK], {}, payers)
  // 50 less 30 is 20, with 21 % tax 24.20.
  expect(shown(paid)).toEqual(['REVENUE 50.00', 'WALLET -30.00', '4.2'])
  expect(paid.content.wallet_balances?.map(each => each.used_balance.amount?.quantity)).toEqual(['24.2'])
  const rule = { wallet_type_id: 'type', amount_grant: { percentage: '100' } }
  const [pack, ...others] = ITEMS
  if (!pack) throw new Error('there is a pack')
  const filling = [{ ...pack, config: { ...pack.config, wallet_grants: [rule] as never } }, ...others]
  const filled = invoiceOf([PACK], { items: filling }, payers)
  expect([shown(filled), filled.content.wallet_balances]).toEqual([['REVENUE 50.00', '10.5'], undefined])
})

describe('an order is refused with its field', () => {
  test.each<[string, readonly OnDemandItem[], string | null]>([
    ['a pack', [PACK], null],
    ['units', [units('4')], null],
    ['a part of a unit', [units('0.5')], null],
    [
      'no units, though the price has default units',
      [{ pricing_item_id: 'priced1' }],
      'MISSING_FIELD pricing_items.0.units',
    ],
    ['null units', [{ pricing_item_id: 'priced1', units: null }], 'MISSING_FIELD pricing_items.0.units'],
    ['units without a number', [{ ...units('1'), units: {} }], 'MISSING_FIELD pricing_items.0.units.number'],
    ['units of events', [{ ...units('1'), units: { count: '1' } }], 'INVALID_FIELD pricing_items.0.units.count'],
    ['zero units', [PACK, units('0')], 'INVALID_FIELD pricing_items.1.units.number'],
    ['units below zero', [units('-1')], 'INVALID_FIELD pricing_items.0.units.number'],
    ['zero units of a pack', [{ ...PACK, units: { number: '0' } }], 'INVALID_FIELD pricing_items.0.units.number'],
    ['units of a pack', [{ ...PACK, units: { number: '2' } }], 'INVALID_FIELD pricing_items.0.units'],
    ['an amount for a pack', [{ ...PACK, flexible_amount: eur('9') }], 'INVALID_FIELD pricing_items.0.flexible_amount'],
    ['an amount of choice', [chosen('10')], null],
    ['the highest amount', [chosen('500')], null],
    ['no amount', [{ pricing_item_id: 'priced2' }], 'MISSING_FIELD pricing_items.0.flexible_amount'],
    ['an amount below the bound', [chosen('9.99')], 'INVALID_FIELD pricing_items.0.flexible_amount.quantity'],
    ['an amount above the bound', [chosen('500.01')], 'INVALID_FIELD pricing_items.0.flexible_amount.quantity'],
    [
      'more decimals than the currency has',
      [chosen('10.001')],
      'INVALID_FIELD pricing_items.0.flexible_amount.quantity',
    ],
    ['an amount in another currency', [chosen('10', 'USD')], 'INVALID_FIELD pricing_items.0.flexible_amount.currency'],
    ['units of a choice', [{ ...chosen('10'), units: { number: '1' } }], 'INVALID_FIELD pricing_items.0.units'],
    ['one item twice', [PACK, PACK], 'INVALID_FIELD pricing_items.1.pricing_item_id'],
    ['an unknown item', [{ pricing_item_id: 'other' }], 'RESOURCE_NOT_FOUND pricing_items.0.pricing_item_id'],
    [
      'an item billed once by the cycle',
      [{ pricing_item_id: 'priced3' }],
      'INVALID_FIELD pricing_items.0.pricing_item_id',
    ],
    ['a fee', [{ pricing_item_id: 'priced4' }], 'INVALID_FIELD pricing_items.0.pricing_item_id'],
  ])('%s', (_title, items, fault) => expect(faultOf(items)).toBe(fault))

  test.each<[string, Partial<Example>, string | undefined, string | null]>([
    ['before the schedule', {}, '2025-12-31T23:59:59Z', 'INVALID_FIELD start_at'],
    ['at its start', {}, START, null],
    ['at its end', { end: '2026-01-15T00:00:00Z' }, '2026-01-15T00:00:00Z', 'INVALID_FIELD start_at'],
    [
      'while the subscription is paused',
      { subscription: { inactive_periods: [{ type: 'PAUSE', start_at: '2026-01-10T00:00:00Z', end_at: null }] } },
      undefined,
      'INVALID_FIELD start_at',
    ],
    [
      'for a subscription that is not ACTIVE',
      { subscription: { status: 'CANCELLED' } },
      undefined,
      'INVALID_OPERATION pricing_plan_schedule_id',
    ],
    ['for a trial', { schedules: [{ trial: true }] }, undefined, 'INVALID_OPERATION pricing_plan_schedule_id'],
    [
      'for a schedule that is not in force',
      { schedules: [{ id: 'other' }] },
      undefined,
      'INVALID_OPERATION pricing_plan_schedule_id',
    ],
    [
      'whose price is not in the currency of its schedule',
      { schedules: [{ pricing_currency: 'USD' }] },
      undefined,
      'INVALID_OPERATION bands.0.fixed_amount.currency',
    ],
  ])('%s', (_title, example, startAt, fault) => expect(faultOf([PACK], example, startAt)).toBe(fault))
})

test('an ADDON is ordered while it is enabled, in any of the times in which it is', () => {
  const enabled_pricings = [
    { pricing_id: 'pricing', start_at: '2026-01-05T00:00:00Z', end_at: '2026-01-10T00:00:00Z' },
    { pricing_id: 'pricing', start_at: '2026-01-15T00:00:00Z' },
  ]
  const inputs = inputsOf({ schedules: [{ enabled_pricings }] })
  const addon = { ...inputs, pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })) }
  const terms = resolveTerms(addon)
  const order = (start_at: string) => checkOrder({ inputs: addon, terms, order: orderOf([PACK], start_at) })
  expect(() => order('2026-01-07T00:00:00Z')).not.toThrow()
  expect(() => order('2026-01-20T10:00:00Z')).not.toThrow()
  expect(() => order('2026-01-12T00:00:00Z')).toThrow('start_at must lie in that time')
  const [charge] = chargesOfOrder({ terms, order: orderOf([PACK]) }) ?? []
  expect(charge?.calendar?.span.start).toBe(at('2026-01-15T00:00:00Z'))
})

describe('the invoice of an order', () => {
  test('has a line for each item, dated and delivered on the day of its start, and is of no billing period', () => {
    const columns = invoiceOf([PACK, units('4'), chosen('25.50')])
    // 5 + 4 × 2.50, and 21 % of 90.50.
    expect(shown(columns)).toEqual(['REVENUE 50.00', 'REVENUE 15.00', 'REVENUE 25.50', '19.01'])
    expect(columns).toMatchObject({
      period_start: null,
      cutoff_at: null,
      invoice_date: '2026-01-20T00:00:00Z',
      delivery_date: '2026-01-20T00:00:00Z',
      due_date: '2026-02-19T00:00:00Z',
    })
    expect(columns.content).not.toHaveProperty('billing_period')
    expect(columns.content.periods.map(({ start_at, end_at }) => [start_at, end_at])).toEqual([
      ['2026-01-20T00:00:00Z', '2026-01-21T00:00:00Z'],
    ])
  })

  const schedule = (more: Partial<ScheduleInput>): Partial<Example> => ({ schedules: [more] })

  test('discounts and markups apply as on other invoices; a minimum does not', () => {
    const discount = { product_items: [{ ids: ['item0'], percentage: '10' }], totals: [{ amount: eur('5') }] }
    expect(shown(invoiceOf([PACK], schedule({ discount })))).toEqual([
      'REVENUE 50.00',
      'DISCOUNT -5.00',
      'DISCOUNT -5.00',
      '8.4',
    ])
    const markup = { pricing_item_configs: [{ ids: ['config0'], percentage: '20' }] }
    expect(shown(invoiceOf([PACK], schedule({ markup })))).toEqual(['REVENUE 50.00', 'MARKUP 10.00', '12.6'])
    const commitment = {
      totals: [{ amount: eur('1000') }],
      pricing_items: [{ ids: ['priced0'], amount: eur('500') }],
    }
    expect(shown(invoiceOf([PACK], schedule({ commitment })))).toEqual(['REVENUE 50.00', '10.5'])
  })

  test('a discount of another time does not apply, and no discount goes below zero', () => {
    const late = { totals: [{ percentage: '10', start_at: '2026-02-01T00:00:00Z' }] }
    expect(shown(invoiceOf([PACK], schedule({ discount: late })))).toEqual(['REVENUE 50.00', '10.5'])
    const high = { totals: [{ amount: eur('80') }] }
    expect(shown(invoiceOf([PACK], schedule({ discount: high })))).toEqual(['REVENUE 50.00', 'DISCOUNT -50.00', '0'])
  })

  test('prices with tax keep what the customer chose as the total', () => {
    const columns = invoiceOf([chosen('100')], { amountType: 'INCLUDING_TAX' })
    expect([columns.amount_excluding_tax, columns.tax_amount, columns.amount_including_tax]).toEqual([
      '82.64',
      '17.36',
      '100',
    ])
  })

  test('units cost fixed_amount + amount × units, whatever their number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), milli => {
        const number = decimal(String(milli)).times('0.001')
        const columns = invoiceOf([units(plain(number))])
        expect(decimal(columns.amount_excluding_tax).eq(roundHalfUp(number.times('2.5').plus('5'), 2))).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('the billing periods never charge it', () => {
    const [first, second] = exampleInvoices(inputsOf(), 2)
    const names = [first, second].flatMap(invoice =>
      (invoice?.content.periods ?? []).flatMap(({ groups }) =>
        groups.flatMap(({ lines }) => lines.map(line => line.pricing_item_id)),
      ),
    )
    expect([...new Set(names)].sort()).toEqual(['priced3', 'priced4'])
  })
})
