// Usage that a line shows and does not bill (semantics 2, report calculations), and prices of each event over several invoices.
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { parseInstant } from '../../../../shared/time.ts'
import type { BillingInputs, CalculationInput, ConfigInput } from '../terms/billing-inputs.ts'
import { eur, exampleInputs, exampleInvoices, metered, plainUsage } from '../testing/example-inputs.ts'
import type { UsageFigure, UsageNeed } from '../usage/usage-needs.ts'

const start = '2026-01-01T00:00:00Z'
const lineOf = (invoice: ReturnType<typeof exampleInvoices>[number] | undefined) =>
  invoice?.content.periods[0]?.groups[0]?.lines[0]
const at = (day: string) => parseInstant(`${day}T00:00:00Z`) ?? Number.NaN

describe('report calculations', () => {
  const reporting = (config: Partial<ConfigInput> = {}): BillingInputs => {
    const ids = ['calls_max', 'spend']
    const inputs = exampleInputs({
      start,
      items: [
        {
          ...metered([{ amount: eur('0.10') }], config),
          item: {
            model_type: 'USAGE_BASED',
            meter_value_calculation_id: 'calc',
            usage_based: { report_meter_value_calculation_ids: ids },
          },
        },
      ],
    })
    const [calc] = inputs.calculations as [CalculationInput]
    const max: CalculationInput = { ...calc, id: 'calls_max', calculation_type: 'MAX' }
    const spend: CalculationInput = { ...calc, id: 'spend', value_reference: 'spend', value_type: 'AMOUNT' }
    return { ...inputs, calculations: [calc, max, spend] }
  }
  const used = (need: UsageNeed): UsageFigure[] => {
    if (need.calculation.id === 'calls_max') return plainUsage('70')
    if (need.calculation.id === 'calc') return plainUsage('100')
    return [
      { currency: 'EUR', number: decimal('12.5'), count: 2 },
      { currency: 'USD', number: decimal('3'), count: 1 },
    ]
  }

  test('are shown with each currency, and bill nothing', () => {
    const [invoice] = exampleInvoices(reporting(), 1, used)
    expect(invoice?.amount_excluding_tax).toBe('10')
    expect(lineOf(invoice)?.details.report_meter_values).toEqual([
      { meter_value_calculation_id: 'calls_max', number: '70', count: '1' },
      { meter_value_calculation_id: 'spend', amount: eur('12.5'), count: '2' },
      { meter_value_calculation_id: 'spend', amount: { quantity: '3', currency: 'USD' }, count: '1' },
    ])
  })

  test('are read for the pricing period of the line, without what splits or tiers the price', () => {
    const asked: string[] = []
    exampleInvoices(reporting({ rate_per: 'EVENT' }), 1, need => {
      asked.push(`${need.calculation.id} ${need.byValue === true}`)
      return need.byValue ? [{ currency: null, number: decimal('100'), count: 1, split: ['100'] }] : used(need)
    })
    expect([...new Set(asked)].sort()).toEqual(['calc true', 'calls_max false', 'spend false'])
  })

  test('an item without them has none', () => {
    const [invoice] = exampleInvoices(exampleInputs({ start, items: [metered([{ amount: eur('1') }])] }), 1, used)
    expect(lineOf(invoice)?.details).not.toHaveProperty('report_meter_values')
  })
})

describe('a price of each event', () => {
  /** 3 events of 10 in each month. */
  const events = ({ interval, byValue }: UsageNeed): UsageFigure[] => {
    expect(byValue).toBe(true)
    const months = interval.end > at('2026-02-02') ? 2 : 1
    return [{ currency: null, number: decimal(String(30 * months)), count: 3 * months, split: ['10'] }]
  }
  const price = (config: Partial<ConfigInput> = {}) =>
    exampleInputs({
      start,
      items: [metered([{ amount: eur('0.01'), minimum_amount: eur('0.25') }], { rate_per: 'EVENT', ...config })],
    })

  test('charges each of them its minimum, and says so', () => {
    const [invoice] = exampleInvoices(price(), 1, events)
    const line = lineOf(invoice)
    expect(line?.amount_excluding_tax).toEqual(eur('0.75'))
    expect(line?.details).toMatchObject({
      price_bound: 'MINIMUM_AMOUNT',
      description: 'each event priced on its own, 30 × 0.01 EUR → 3 × minimum amount 0.25 EUR',
      meter_value: { number: '30', count: '3' },
    })
  })

  test('bills a pricing period of two months, month by month, without charging an event twice', () => {
    const inputs = price({ pricing_period: { type: 'MONTH', value: 2 }, billing_period: { type: 'MONTH', value: 1 } })
    const amounts = exampleInvoices(inputs, 2, events).map(invoice => lineOf(invoice)?.amount_excluding_tax)
    expect(amounts).toEqual([eur('0.75'), eur('0.75')])
  })
})
