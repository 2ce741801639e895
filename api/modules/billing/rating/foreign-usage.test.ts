// Invoices of money that was metered in other currencies than its price.
import { describe, expect, test } from 'vitest'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { chargesOf } from '../charges/charges.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../late/late-usage.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { type ExampleItem, eur, exampleInputs, metered, plainUsage } from '../testing/example-inputs.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import { type UsageExchange, type UsageFigure, usageNeeds } from '../usage/usage-needs.ts'
import { readNeeds } from '../usage/usage-reader.ts'

const START = '2026-01-01T00:00:00Z'
const RATE: ExchangeRate = {
  ...{ base_currency: 'USD', currency: 'EUR', rate: '0.92', source: 'ECB' },
  rate_timestamp: '2026-01-02T00:00:00Z',
}
const EXCHANGE: UsageExchange = {
  parts: [
    { currency: 'EUR', number: decimal('108'), converted: decimal('108'), count: 1 },
    { currency: 'USD', number: decimal('100'), converted: decimal('92'), count: 2 },
  ],
  used: [RATE],
  held: [RATE],
  stale: [],
}
/** 200 EUR: 100 metered in EUR, and 100 converted from USD. */
const CONVERTED: UsageFigure = { currency: 'EUR', number: decimal('200'), count: 3, exchange: EXCHANGE }
const LACKING: UsageFigure = { currency: 'CHF', number: decimal('5'), count: 1, missing: at('2026-01-03T00:00:00Z') }

const PERCENTAGE = metered([{ percentage: '1.5', minimum_amount: eur('0') }], { pricing_type: 'FLAT' })
const IN_CREDITS = metered([{ credits: { quantity: '2', credit_type_id: 'crty' } }] as ExampleItem['bands'])

function invoiceOf(
  figures: readonly UsageFigure[],
  more: { readonly mayLackRates?: true } = {},
  item: ExampleItem = PERCENTAGE,
  value_type: 'AMOUNT' | 'NUMBER' = 'AMOUNT',
) {
  const inputs = exampleInputs({
    start: START,
    items: [item],
  })
  const money = {
    ...inputs,
    calculations: inputs.calculations.map(each => ({ ...each, value_type })),
  }
  const terms = resolveTerms(money)
  for (const window of invoiceWindows(money)) {
    const needs = usageNeeds(chargesOf(terms, window, new Set()))
    if (needs.length === 0) continue
    const usage = new Map(needs.map(need => [need.key, figures]))
    const request = { terms, window, billed: new Set<string>(), usage, finalizedAt: null, ...more }
    return { invoice: priceInvoice(money, request), needs, request, inputs: money }
  }
  throw new Error('there is a window')
}
const contentOf = (figures: readonly UsageFigure[], more: { readonly mayLackRates?: true } = {}) =>
  invoiceOf(figures, more).invoice.columns.content
const linesIn = (content: ReturnType<typeof contentOf>) =>
  content.periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))

test('the usage of a price of money is read for the currency of the price', () => {
  expect(invoiceOf([]).needs.map(({ currency }) => currency)).toEqual(['EUR'])
})

describe('converted usage', () => {
  test('is priced in the currency of the price, and the line shows what it was converted from', () => {
    const content = contentOf([CONVERTED])
    const [line] = linesIn(content)
    expect(line?.amount_excluding_tax).toEqual(eur('3.00'))
    expect(line?.details).toMatchObject({
      meter_value: { type: 'AMOUNT', amount: eur('200'), count: '3' },
      meter_values: [
        { amount: eur('108'), amount_in_pricing_currency: eur('108'), count: 1 },
        { amount: { quantity: '100', currency: 'USD' }, amount_in_pricing_currency: eur('92'), count: 2 },
      ],
      used_exchange_rates: [RATE],
    })
    expect(line?.details.description).toContain('of 108 EUR, 100 USD = 92 EUR')
    expect(content.used_exchange_rates).toEqual([RATE])
    expect(content.validation_result).toEqual([])
  })

  test('keeps its rates with the invoice, so that it can be priced again', () => {
    expect(pinnedRequest(invoiceOf([CONVERTED]).request).usageRates).toEqual([RATE])
    expect(pinnedRequest(invoiceOf([{ currency: 'EUR', number: decimal('1'), count: 1 }]).request)).not.toHaveProperty(
      'usageRates',
    )
  })

  test('keeps the invoice from becoming FINAL where a rate was too old', () => {
    const [finding, ...others] = contentOf([
      { ...CONVERTED, exchange: { ...EXCHANGE, stale: [RATE] } },
    ]).validation_result
    expect(others).toEqual([])
    expect(finding).toMatchObject({ status: 'ERROR', details: expect.stringContaining('USD and EUR of 2026-01-02') })
  })
})

function lateOf({ invoice, request }: ReturnType<typeof invoiceOf>): LateCharge {
  const closed = { invoice_id: 'a', subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
  const [unit] = lateUnits([{ ...closed, charges: invoice.counted }])
  const term = unit && termOf(request.terms, unit)
  if (!unit || !term) throw new Error('the invoice counted usage')
  return lateCharge(term, unit, 'key')
}

// What is FINAL was converted by these rates; later ones must not change what it billed.
test('late usage is converted by the rates of the invoice that closed its time', async () => {
  const closed = invoiceOf([CONVERTED])
  const { inputs } = closed
  const needs = usageNeeds([lateOf(closed).charge])
  expect(needs.map(({ keptRates }) => keptRates)).toEqual([[RATE]])
  const usage: typeof NO_USAGE = {
    ...NO_USAGE,
    read: async (_tenant, _parts, { interval }) =>
      interval.start < at('2026-01-03T00:00:00Z') && interval.end > at('2026-01-05T00:00:00Z')
        ? [{ currency: 'USD', number: decimal('105'), count: 3 }]
        : [],
  }
  const rates = [
    { ...RATE, rate: '0.5' },
    { ...RATE, rate: '0.6', rate_timestamp: '2026-01-04T00:00:00Z' },
  ]
  const database = {} as Parameters<typeof readNeeds>[0]['database']
  const tenant = { platformId: 'p', environment: 'TEST' } as const
  const worthOf = async (of: typeof needs, more = {}) => {
    const found = await readNeeds({ database, usage }, { tenant, inputs, needs: of, rates, ...more })
    return [...found.usage.values()].flat().map(({ number }) => plain(number))
  }
  expect(await worthOf(needs)).toEqual(['96.6'])
  const own = needs.map(({ keptRates: _kept, ...need }) => need)
  expect(await worthOf(own, { keptRates: [RATE] })).toEqual(['96.6'])
})

describe('usage without a rate', () => {
  const since = formatInstant(LACKING.missing ?? at(START))

  test('is left out of an invoice, which a finding keeps DRAFT', () => {
    const content = contentOf([LACKING, CONVERTED], { mayLackRates: true })
    expect(linesIn(content).map(line => line.amount_excluding_tax)).toEqual([eur('3.00')])
    expect(content.validation_result).toEqual([
      {
        status: 'ERROR',
        details: `Usage of Tokens is not on this invoice. Usage in CHF cannot be priced in EUR: there is no exchange rate of ${since} or before. Add one: POST /v1/exchange-rates.`,
      },
    ])
  })

  // The last invoice of a cancelled subscription has no next one for it.
  test.each(['money', 'credits, by a tier of money'] as const)(
    'keeps an invoice DRAFT too where it came late, priced in %s',
    by => {
      const closed = by === 'money' ? invoiceOf([CONVERTED]) : invoiceOf(plainUsage('2'), {}, IN_CREDITS, 'NUMBER')
      const { charge, unit } = lateOf(closed)
      const [calculation] = invoiceOf([]).inputs.calculations
      if (!calculation) throw new Error('there is a calculation')
      const tiering = by === 'money' ? null : { calculation: { ...calculation, id: 'spent' }, condition: null }
      const late = { unit, charge: { ...charge, tiering } }
      const usage = new Map(closed.request.usage)
      for (const { key, currency } of usageNeeds([late.charge])) usage.set(key, currency ? [LACKING] : plainUsage('3'))
      const { content } = priceInvoice(closed.inputs, {
        ...closed.request,
        usage,
        late: [late],
        mayLackRates: true,
      }).columns
      expect(content.validation_result).toMatchObject([
        { status: 'ERROR', details: expect.stringMatching(/^Late usage of Tokens .* no exchange rate of/u) },
      ])
    },
  )

  test('is refused by a preview', () => {
    expect(() => contentOf([LACKING, CONVERTED])).toThrow(`there is no exchange rate of ${since} or before. Add one`)
  })
})
