// Items that are sold once, by units, and items that are charged by seats (contract: Units on one-off items; semantics
// 4.4).
import { describe, expect, test } from 'vitest'
import type { BandInput } from '../../../../shared/rating/parse-price-config.ts'
import { priceInvoice } from '../run/price-invoice.ts'
import type { ConfigInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type ExampleItem, eur, exampleInputs, exampleInvoices, linesOf, recurring } from '../testing/example-inputs.ts'

const start = '2026-03-11T00:00:00Z'
const sold = (
  model_type: 'ONE_OFF' | 'PER_SEAT',
  bands: readonly BandInput[],
  config: Partial<ConfigInput>,
): ExampleItem => ({
  item: { model_type },
  config: { pricing_type: 'FLAT', ...config },
  bands,
})
const lines = (items: readonly ExampleItem[], count = 3, more = {}) =>
  exampleInvoices(exampleInputs({ start, items, ...more }), count).map(linesOf)

describe('an item that is sold once', () => {
  const unit = [{ fixed_amount: eur('5'), amount: eur('20') }]

  test('is charged at the start of its schedule, never again and never in part', () => {
    const items = [sold('ONE_OFF', unit, { default_units: { number: '3' } }), recurring('31')]
    expect(lines(items)).toEqual([
      ['2026-03-11..2026-04-01 65.00'],
      ['2026-03-11..2026-04-01 21.00'],
      ['2026-04-01..2026-05-01 31.00'],
    ])
  })

  test('charges one unit by default; a lump sum has no units', () => {
    expect(lines([sold('ONE_OFF', unit, {})])).toEqual([['2026-03-11..2026-04-01 25.00']])
    const lump = sold('ONE_OFF', [{ fixed_amount: eur('99') }], { pricing_type: 'FIXED' })
    expect(lines([lump])).toEqual([['2026-03-11..2026-04-01 99.00']])
  })

  test('is charged by each schedule that has it', () => {
    const schedules = [{ end_at: '2026-04-01T00:00:00Z' }, { start_at: '2026-04-01T00:00:00Z' }]
    expect(lines([sold('ONE_OFF', unit, {})], 3, { schedules })).toEqual([
      ['2026-03-11..2026-04-01 25.00'],
      ['2026-04-01..2026-05-01 25.00'],
    ])
  })

  test('is marked, so that its days are not refunded', () => {
    const inputs = exampleInputs({
      start,
      items: [sold('ONE_OFF', unit, {}), recurring('31', { billing_in_advance: true })],
    })
    const [window] = invoiceWindows(inputs)
    if (!window) throw new Error('there is a window')
    const request = {
      terms: resolveTerms(inputs),
      window,
      billed: new Set<string>(),
      usage: new Map(),
      finalizedAt: null,
    }
    const sources = priceInvoice(inputs, request).lines.map(({ source }) => source)
    expect(sources).toMatchObject([{ in_advance: true, one_off: true }, { in_advance: true }])
    expect(sources[1]).not.toHaveProperty('one_off')
  })

  test('says its units', () => {
    const items = [sold('ONE_OFF', unit, { default_units: { number: '3' } })]
    const [invoice] = exampleInvoices(exampleInputs({ start, items }), 1)
    expect(invoice?.content.periods[0]?.groups[0]?.lines[0]?.details.description).toBe('fixed 5 EUR + 3 × 20 EUR')
  })
})

describe('an item that is charged by seats', () => {
  const seats = (number: string, config: Partial<ConfigInput> = {}) =>
    sold('PER_SEAT', [{ amount: eur('10') }], { default_seats_value: { number }, ...config })

  test('costs its seats each period, and the days of a part of one', () => {
    expect(lines([seats('5')], 2)).toEqual([['2026-03-11..2026-04-01 33.87'], ['2026-04-01..2026-05-01 50.00']])
    expect(lines([seats('5', { billing_in_advance: true })], 2)).toEqual([
      ['2026-03-11..2026-04-01 33.87'],
      ['2026-04-01..2026-05-01 50.00'],
    ])
  })

  test('in tiers goes by the number of seats; a price a year is scaled', () => {
    const tiers = [{ amount: eur('10'), tier_top_bound: { number: '2' } }, { amount: eur('8') }]
    const tiered = sold('PER_SEAT', tiers, { pricing_type: 'TIERED', default_seats_value: { number: '5' } })
    expect(lines([tiered], 2)[1]).toEqual(['2026-04-01..2026-05-01 44.00'])
    const yearly = seats('3', { pricing_period: { type: 'YEAR', value: 1 } })
    expect(lines([yearly], 2)[1]).toEqual(['2026-04-01..2026-05-01 2.50'])
  })

  test('has no line without seats', () => {
    expect(lines([seats('0'), recurring('31')], 2)[1]).toEqual(['2026-04-01..2026-05-01 31.00'])
    expect(lines([sold('PER_SEAT', [{ amount: eur('10') }], {}), recurring('31')], 2)[1]).toHaveLength(1)
  })
})
