// Prices in another currency than the invoice: what is converted, at which rate, and what is refused.
import { describe, expect, test } from 'vitest'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { closeInTurn, linesIn } from '../testing/example-closing.ts'
import { type Example, eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'

const START = '2026-01-01T00:00:00Z'
const rate = (value: string, day: string): ExchangeRate => ({
  base_currency: 'EUR',
  currency: 'USD',
  rate: value,
  rate_timestamp: `${day}T00:00:00Z`,
  source: 'ECB',
})
const RATES = [rate('1.0832', '2025-12-01'), rate('1.2', '2026-02-15')]
/** Priced in EUR and billed in USD, without tax. */
const inputsOf = (example: Partial<Example>, rates: readonly ExchangeRate[] = RATES) => {
  const inputs = exampleInputs({ start: START, items: [recurring('100')], ...example })
  return {
    ...inputs,
    subscription: { ...inputs.subscription, billing_currency: 'USD' },
    exchange_rates: rates,
  }
}
const shown = (inputs: ReturnType<typeof inputsOf>, count = 1, usage = '0') =>
  exampleInvoices(inputs, count, usage).map(invoice =>
    invoice.content.periods.flatMap(({ groups }) =>
      groups.flatMap(({ lines }) => lines.map(line => line.amount_excluding_tax)),
    ),
  )
const usd = (quantity: string) => ({ quantity, currency: 'USD' })

describe('a price in another currency', () => {
  test('is converted at the rate that holds on the date of each invoice, and the line shows both', () => {
    // They are dated 31 January, 28 February and 31 March.
    expect(shown(inputsOf({}), 3)).toEqual([[usd('108.32')], [usd('120.00')], [usd('120.00')]])
    const [invoice] = exampleInvoices(inputsOf({}), 1)
    const line = invoice?.content.periods[0]?.groups[0]?.lines[0]
    expect(line?.details).toMatchObject({
      amount: usd('108.32'),
      pricing_currency: 'EUR',
      pricing_amount: eur('100'),
      used_exchange_rates: [RATES[0]],
    })
    expect(invoice?.content.used_exchange_rates).toEqual([RATES[0]])
    expect([invoice?.billing_currency, invoice?.amount_excluding_tax]).toEqual(['USD', '108.32'])
  })

  test('keeps an invoice from becoming FINAL while the rate is more than 31 days older than it', () => {
    const found = (...rates: ExchangeRate[]) =>
      exampleInvoices(inputsOf({}, rates), 1).flatMap(({ content }) =>
        content.validation_result.map(({ status, details }) => `${status} ${details}`),
      )
    // Dated 31 January.
    expect(found(rate('1.1', '2025-12-31'))).toEqual([])
    expect(found(rate('1.1', '2025-12-30'))).toEqual([
      expect.stringMatching(/^ERROR The exchange rate of EUR and USD is of 2025-12-30.* at most 31 days/),
    ])
    expect(found(rate('1.1', '2025-12-30'), rate('1.2', '2026-01-31'))).toEqual([])
  })

  test('is converted exactly and rounded once', () => {
    const third = [rate('1.333', '2025-12-01')]
    expect(shown(inputsOf({ items: [recurring('0.01'), recurring('0.005')] }, third))).toEqual([
      [usd('0.01'), usd('0.01')],
    ])
  })

  test('discounts, their conditions and minimums are converted with it', () => {
    const schedule = {
      discount: {
        totals: [{ amount: eur('10'), condition: { comparator: 'GREATER_THAN', value: { amount: eur('99') } } }],
      },
      commitment: { totals: [{ amount: eur('200') }] },
    } as NonNullable<Example['schedules']>[number]
    const [lines] = shown(inputsOf({ items: [metered([{ amount: eur('1') }])], schedules: [schedule] }), 1, '100')
    // 100 EUR, less 10, and 110 more to reach 200: at 1.0832.
    expect(lines).toEqual([usd('108.32'), usd('-10.83'), usd('119.15')])
  })

  test('the units that a minimum lacks are converted from the currency that their price falls back to', () => {
    const onConfig = { ids: [] as string[], meter_value_calculation: { number: '150' } }
    const schedule = { commitment: { pricing_item_configs: [onConfig] } } as NonNullable<Example['schedules']>[number]
    const inputs = inputsOf({ items: [metered([{ amount: eur('1') }])], schedules: [schedule] })
    const fallback = (item: (typeof inputs.pricings)[number]['items'][number]) => ({
      ...item,
      configs: [],
      pricing_currency_configs: [
        { currency: 'EUR', configs: item.configs },
        { currency: 'USD', fallback_currency: 'EUR' },
      ],
    })
    const own = {
      ...inputs,
      schedules: inputs.schedules.map(each => ({ ...each, pricing_currency: 'USD' })),
      pricings: inputs.pricings.map(each => ({ ...each, items: each.items.map(fallback) })),
    }
    const ids = own.pricings.flatMap(({ items }) =>
      items.flatMap(item => item.pricing_currency_configs[0]?.configs ?? []),
    )
    onConfig.ids = ids.map(({ id }) => id)
    // 100 EUR, and 50 units of 1 EUR that were not used: at 1.0832.
    expect(shown(own, 1, '100')).toEqual([[usd('108.32'), usd('54.16')]])
  })

  test('late usage keeps the rate of the invoice that it is late for', () => {
    const inputs = inputsOf({ items: [metered([{ amount: eur('1') }])] })
    const [january, february] = closeInTurn(
      inputs,
      [
        { day: 3, quantity: '100', after: 0 },
        { day: 4, quantity: '50', after: 1 },
        { day: 35, quantity: '10', after: 1 },
      ],
      2,
    )
    const amounts = (of: typeof january) => (of ? linesIn(of).map(line => line.amount_excluding_tax.quantity) : [])
    expect([amounts(january), amounts(february)]).toEqual([['108.32'], ['54.16', '12.00']])
  })

  test('without a rate, it cannot be billed, and the message says what to do', () => {
    expect(() => exampleInvoices(inputsOf({}, []), 1)).toThrow('Add one: POST /v1/exchange-rates.')
    expect(() => exampleInvoices(inputsOf({}, [rate('1', '2026-02-01')]), 1)).toThrow('there is no exchange rate')
  })
})
