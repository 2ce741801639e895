// Prices that a schedule has instead of those of its version, from the schedule to the lines.
import { describe, expect, test } from 'vitest'
import { changedOverrides } from '../../subscriptions/overrides/merge-overrides.ts'
import type { GivenOverride } from '../../subscriptions/overrides/schema.ts'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  recurring,
} from '../testing/example-inputs.ts'

const MARCH = '2026-03-01T00:00:00Z'
type Terms = Omit<GivenOverride['items'][number]['configs'][number], 'original_pricing_item_config_id'>
const price = (index: number, terms: Terms) => ({
  original_pricing_item_id: `priced${index}`,
  configs: [{ original_pricing_item_config_id: `config${index}`, ...terms }],
})
const overrides = (items: GivenOverride['items'], override: 'ALL' | 'SPECIFIC' = 'SPECIFIC') =>
  changedOverrides([], [{ original_pricing_id: 'pricing', override, items }])
const invoiced = (items: readonly ExampleItem[], override_pricings: ReturnType<typeof overrides>, usage = '0') =>
  exampleInvoices(exampleInputs({ start: MARCH, items, schedules: [{ override_pricings }] }), 1, usage).map(linesOf)

describe('an invoice of a schedule with overrides', () => {
  const FEE = recurring('100')
  const USAGE = metered([{ amount: eur('0.1') }])
  test.each<[string, ReturnType<typeof overrides>, string[]]>([
    [
      'has the price of the schedule',
      overrides([price(0, { bands: [{ fixed_amount: eur('80') }] })]),
      ['80.00', '100.00'],
    ],
    ['of usage too', overrides([price(1, { bands: [{ amount: eur('0.05') }] })]), ['100.00', '50.00']],
    [
      'less what it includes',
      overrides([price(1, { default_included_volume: { number: '400' } })]),
      ['100.00', '60.00'],
    ],
    [
      'by other tiers',
      overrides([
        price(1, {
          pricing_type: 'TIERED',
          bands: [{ amount: eur('0.1'), tier_top_bound: { number: '500' } }, { amount: eur('0.02') }],
        }),
      ]),
      ['100.00', '60.00'],
    ],
    [
      'within its bounds',
      overrides([price(1, { bands: [{ amount: eur('0.1'), maximum_amount: eur('75') }] })]),
      ['100.00', '75.00'],
    ],
    [
      'and of everything charges nothing else',
      overrides([price(0, { bands: [{ fixed_amount: eur('80') }], pricing_type: 'FIXED' })], 'ALL'),
      ['80.00'],
    ],
  ])('%s', (_title, given, expected) => {
    const [lines] = invoiced([FEE, USAGE], given, '1000')
    expect(lines?.map(line => line.split(' ')[1])).toEqual(expected)
  })

  test('charges the seats that it states by default', () => {
    const seats: ExampleItem = {
      item: { model_type: 'PER_SEAT' },
      config: { pricing_type: 'FLAT', default_seats_value: { number: '3' } },
      bands: [{ amount: eur('10') }],
    }
    const [lines] = invoiced([seats], overrides([price(0, { default_seats_value: { number: '5' } })]))
    expect(lines).toEqual(['2026-03-01..2026-04-01 50.00'])
  })

  test('of one schedule leaves the next one as the plan has it', () => {
    const given = overrides([price(0, { bands: [{ fixed_amount: eur('62') }] })])
    const inputs = exampleInputs({
      start: MARCH,
      items: [recurring('31')],
      schedules: [{ end_at: '2026-03-11T00:00:00Z', override_pricings: given }, { start_at: '2026-03-11T00:00:00Z' }],
    })
    expect(exampleInvoices(inputs, 1).map(linesOf)).toEqual([
      ['2026-03-01..2026-03-11 20.00', '2026-03-11..2026-04-01 21.00'],
    ])
  })
})
