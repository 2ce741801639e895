// Tiers that other usage decides, and tiers of prices that share a volume group (semantics 3.1, 3.2), on invoices.
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { Tiering } from '../../catalog/pricing-plans/schema.ts'
import { lateCharge, lateUnits } from '../late/late-usage.ts'
import { rateLate } from '../rating/rate-charge.ts'
import type { BillingInputs, CalculationInput } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, exampleInvoices, linesOf, metered, plainUsage } from '../testing/example-inputs.ts'
import { type UsageNeed, usageNeeds } from '../usage/usage-needs.ts'
import { chargesOf } from './charges.ts'

const start = '2026-01-01T00:00:00Z'
const TIERS = [{ amount: eur('0.10'), tier_top_bound: { number: '1000' } }, { amount: eur('0.08') }]
const TOP_TIERED = { pricing_type: 'TOP_TIERED' }

const withSeats = (inputs: BillingInputs): BillingInputs => {
  const [calc] = inputs.calculations
  const seats: CalculationInput = {
    ...(calc as CalculationInput),
    id: 'seats',
    reference: 'seats_max',
    calculation_type: 'MAX',
  }
  return { ...inputs, calculations: [...inputs.calculations, seats] }
}

const REGION: Tiering = {
  name: 'EU only',
  expression: {
    operator: 'AND',
    operands: [
      {
        meter_property: {
          id: 'region',
          reference: 'region',
          comparator: 'EQUALS',
          value: 'eu',
          values: null,
          meter_property_variable_id: null,
        },
      },
    ],
  },
}
const NAMES = {
  condition_names: { properties: [{ id: 'region', reference: 'region', type: 'STRING' as const }], variables: [] },
}

describe('a tier that other usage decides on', () => {
  const bySeats = (config = {}) => ({
    ...metered([{ amount: eur('1'), tier_top_bound: { number: '10' } }, { amount: eur('0.5') }], {
      ...TOP_TIERED,
      ...config,
    }),
    item: {
      model_type: 'USAGE_BASED' as const,
      meter_value_calculation_id: 'calc',
      usage_based: { tiering_meter_value_calculation_id: 'seats' },
    },
  })
  const used = (calls: string, seats: string) => (need: UsageNeed) =>
    plainUsage(need.calculation.id === 'seats' ? seats : calls)

  test('follows the other calculation: 1,000 calls at 1 for 10 seats, at 0.5 for 11', () => {
    const inputs = withSeats(exampleInputs({ start, items: [bySeats()] }))
    expect(exampleInvoices(inputs, 1, used('1000', '10'))[0]?.amount_excluding_tax).toBe('1000')
    const [invoice] = exampleInvoices(inputs, 1, used('1000', '11'))
    expect(invoice?.amount_excluding_tax).toBe('500')
    expect(invoice?.content.periods[0]?.groups[0]?.lines[0]?.details).toMatchObject({
      description: '1000 × 0.5 EUR, tier of 11 seats_max',
      meter_value: { number: '1000' },
      tiering_meter_value: { id: 'seats', reference: 'seats_max', type: 'NUMBER', number: '11' },
    })
  })

  test('follows the events that its conditions select, of the billed calculation', () => {
    const inputs = exampleInputs({
      start,
      items: [metered(TIERS, { ...TOP_TIERED, tiering_conditions: REGION })],
      inputs: NAMES,
    })
    const of = (eu: string) => (need: UsageNeed) => plainUsage(need.condition === null ? '5000' : eu)
    expect(exampleInvoices(inputs, 1, of('900'))[0]?.amount_excluding_tax).toBe('500')
    expect(exampleInvoices(inputs, 1, of('1001'))[0]?.amount_excluding_tax).toBe('400')
  })

  test('follows the number of those events, where the tiers are bounded by events', () => {
    const byEvents = [{ amount: eur('0.10'), tier_top_bound: { count: '20' } }, { amount: eur('0.08') }]
    const inputs = (config: object) =>
      exampleInputs({ start, items: [metered(byEvents, { ...TOP_TIERED, ...config })], inputs: NAMES })
    const of = (eu: number) => (need: UsageNeed) =>
      need.condition === null ? plainUsage('5000', 300) : plainUsage('4000', eu)
    const chosen = inputs({ tiering_conditions: REGION })
    expect(exampleInvoices(chosen, 1, of(20))[0]?.amount_excluding_tax).toBe('500')
    const [beyond] = exampleInvoices(chosen, 1, of(21))
    expect(beyond?.amount_excluding_tax).toBe('400')
    expect(beyond?.content.periods[0]?.groups[0]?.lines[0]?.details).toMatchObject({
      description: '5000 × 0.08 EUR, tier of 21 events of tokens_sum',
      tiering_meter_value: { id: 'calc', type: 'NUMBER', count: '21' },
      band: { tier_lower_bound: { count: '20' } },
    })
    expect(exampleInvoices(inputs({}), 1, of(0))[0]?.amount_excluding_tax).toBe('400')
  })

  test('counts from the start of the pricing period, also on the invoices after the first', () => {
    const quarter = { pricing_period: { type: 'MONTH', value: 3 } as const }
    const inputs = withSeats(exampleInputs({ start, items: [bySeats(quarter)] }))
    const asked: string[] = []
    const amounts = exampleInvoices(inputs, 2, need => {
      asked.push(`${need.calculation.id} ${new Date(need.interval.start).toISOString().slice(0, 10)}`)
      const isFirst = need.interval.end === Date.UTC(2026, 1, 1)
      return plainUsage(need.calculation.id === 'seats' ? (isFirst ? '10' : '20') : isFirst ? '100' : '300')
    }).map(invoice => invoice.amount_excluding_tax)
    // 100 at 1; then 300 at 0.5 less the 100 charged before.
    expect(amounts).toEqual(['100', '50'])
    expect(new Set(asked)).toEqual(new Set(['calc 2026-01-01', 'seats 2026-01-01']))
  })
})

describe('prices in one volume group', () => {
  const member = (more: object = {}) =>
    metered(TIERS, { pricing_type: 'TIERED', volume_group_reference: 'tokens', ...more })
  const two = (more: object = {}) => {
    const inputs = exampleInputs({ start, items: [member(more), member(more)] })
    const [calc] = inputs.calculations
    return {
      ...inputs,
      calculations: [...inputs.calculations, { ...(calc as CalculationInput), id: 'calc2', reference: 'output_sum' }],
      product_items: inputs.product_items.map((item, index) =>
        index === 1 ? { ...item, meter_value_calculation_id: 'calc2' } : item,
      ),
    }
  }
  const used = (a: string, b: string) => (need: UsageNeed) => plainUsage(need.calculation.id === 'calc' ? a : b)

  test('E: 800 and 700 are 140.00 together: 74.67 and 65.33, and the lines say how', () => {
    const [invoice] = exampleInvoices(two(), 1, used('800', '700'))
    expect(linesOf(invoice)).toEqual(['2026-01-01..2026-02-01 74.67', '2026-01-01..2026-02-01 65.33'])
    expect(invoice?.amount_excluding_tax).toBe('140')
    const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.details.description).toBe('1000 × 0.1 EUR; 500 × 0.08 EUR, × 800 ÷ 1500 of the group')
    expect(line?.sub_lines?.map(({ details }) => details.band?.volume_share)).toEqual([
      '0.533333333333',
      '0.533333333333',
    ])
    const parts = (line?.sub_lines ?? []).map(({ details }) => decimal(details.pricing_amount.quantity))
    expect(
      sum(parts)
        .minus(decimal(line?.details.pricing_amount.quantity ?? '0'))
        .abs()
        .lt('1e-30'),
    ).toBe(true)
  })

  test('of a pricing period over three invoices each charges what is left of its share', () => {
    const quarter = { pricing_period: { type: 'MONTH', value: 3 } }
    const month = (end: number) => [Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 1)].indexOf(end)
    const invoices = exampleInvoices(two(quarter), 3, ({ calculation, interval }) => {
      const soFar = calculation.id === 'calc' ? ['400', '800', '800'] : ['100', '700', '1200']
      return plainUsage(soFar[month(interval.end)] ?? '0')
    })
    const total = sum(invoices.map(invoice => decimal(invoice.amount_excluding_tax)))
    // 2,000 together: 1,000 at 0.10 and 1,000 at 0.08.
    expect(plain(total)).toBe('180')
  })

  test('included volume of one price is deducted before its usage is added to the others', () => {
    const inputs = two()
    const [pricing] = inputs.pricings
    const items = (pricing?.items ?? []).map((item, index) =>
      index === 0
        ? { ...item, configs: item.configs.map(each => ({ ...each, default_included_volume: { number: '300' } })) }
        : item,
    )
    const including = { ...inputs, pricings: pricing ? [{ ...pricing, items }] : [] }
    // 500 and 700: 1,000 at 0.10 and 200 at 0.08.
    expect(exampleInvoices(including, 1, used('800', '700'))[0]?.amount_excluding_tax).toBe('116')
  })

  test('late usage of one price changes the share of the other, and together they charge what the group still owes', () => {
    const inputs = two()
    const terms = resolveTerms(inputs)
    // The first invoice collects only charges in advance; there are none.
    const [, window] = invoiceWindows(inputs)
    if (!window) throw new Error('there is a window')
    const closed = (['800', '700'] as const).map((number, index) => {
      const charge = chargesOf(terms, window, new Set())[index]
      if (!charge?.usage) throw new Error('both are charged')
      const exact = plain(decimal('140').times(decimal(number)).div(decimal('1500')))
      return {
        unit: charge.ratingGroup,
        schedule_id: charge.schedule.id,
        item_id: charge.item.id,
        config_id: charge.config.id,
        product_item_id: charge.productItem.id,
        pricing_type: 'TIERED',
        billing_period: { type: 'MONTH' as const, value: 1 },
        service: [charge.service.start, charge.service.end] as const,
        usage: [charge.usage.start, charge.usage.end] as const,
        number,
        count: '1',
        exact,
        printed: index === 0 ? '74.67' : '65.33',
      }
    })
    const of = { invoice_id: 'first', subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
    const late = lateUnits([{ ...of, charges: closed }]).map((unit, index) => {
      const term = terms[index]
      if (!term) throw new Error('each unit has its price')
      return lateCharge(term, { ...unit, together: { number: '1500', count: '2' } }, 'second')
    })
    const due = (a: string, b: string) => {
      const needs = usageNeeds(late.map(({ charge }) => charge))
      const usage = new Map(needs.map(need => [need.key, used(a, b)(need)]))
      return late.map(each => rateLate(each, { usage, rounding: 'DEFAULT' })?.quantity).map(each => each && plain(each))
    }
    // 1,600 together cost 148: 900 ÷ 1600 and 700 ÷ 1600 of it.
    expect(due('900', '700')).toEqual(['8.58', '-0.58'])
    expect(due('800', '700')).toEqual([undefined, undefined])
    expect(due('800', '600'), 'nothing is given back').toEqual([undefined, undefined])
  })
})
