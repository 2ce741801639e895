import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { exchangeAt } from '../../../../shared/billing/exchange/exchange-spans.ts'
import { timesFraction } from '../../../../shared/billing/fraction.ts'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { at, contains, formatInstant, type Instant, instantOf, interval } from '../../../../shared/time.ts'
import { inPricingCurrency } from './convert-usage.ts'
import type { UsageOfCustomers } from './customer-usage.ts'
import type { UsageFigure, UsageNeed } from './usage-needs.ts'

const DAY = 86_400_000
const START = at('2026-03-01T00:00:00Z')
const WITHIN = interval(START, instantOf(START + 31 * DAY))

type Event = {
  readonly at: Instant
  readonly quantity: Decimal
  readonly currency: string
  readonly customerId: string
}
type Type = 'SUM' | 'MAX' | 'MIN' | 'AVERAGE'

const need = (calculation_type: Type, more: Partial<UsageNeed> = {}): UsageNeed => ({
  key: 'k',
  calculation: {
    ...{ id: 'c', reference: 'c', calculation_type, persist: false, meter_reference: 'payments' },
    ...{ value_reference: 'paid', value_type: 'AMOUNT', property_reference: null, property_type: null },
  },
  condition: null,
  interval: WITHIN,
  currency: 'EUR',
  splitBy: null,
  ...more,
})

const WHOLE: Record<Type, (values: readonly Decimal[]) => Decimal> = {
  SUM: values => sum(values),
  MAX: values => values.reduce(max),
  MIN: values => values.reduce(min),
  AVERAGE: values => sum(values).div(decimalOfInteger(values.length)),
}

/** What the store of usage answers: a figure for each currency, and for each value where usage is read by value. */
const figuresOf = (of: UsageNeed, events: readonly Event[]): UsageFigure[] =>
  [...groupBy(events, event => `${event.currency} ${of.byValue ? plain(event.quantity) : ''}`)].map(([, own]) => {
    const values = own.map(({ quantity }) => quantity)
    const type = of.calculation.calculation_type as Type
    const [first] = own
    const split = of.byValue ? { split: [plain(first?.quantity ?? decimal('0'))] } : {}
    return { currency: first?.currency ?? null, number: WHOLE[type](values), count: own.length, ...split }
  })

const readOf =
  (events: readonly Event[]) =>
  async (of: UsageNeed): Promise<UsageOfCustomers> => {
    const inside = events.filter(event => contains(of.interval, event.at))
    const byCustomer = [...groupBy(inside, ({ customerId }) => customerId)].flatMap(([customerId, own]) =>
      figuresOf(of, own).map(figure => ({ ...figure, customerId, weight: figure.number })),
    )
    return { figures: figuresOf(of, inside), byCustomer }
  }

async function convert(of: UsageNeed, events: readonly Event[], rates: readonly ExchangeRate[]) {
  const read = readOf(events)
  return await inPricingCurrency(of, await read(of), { read, rates: async () => rates })
}

const rate = (base_currency: string, value: string, day: number): ExchangeRate => ({
  ...{ base_currency, currency: 'EUR', rate: value, source: 'ECB' },
  rate_timestamp: formatInstant(instantOf(START + day * DAY)),
})
const RATES = [rate('USD', '0.9', 0), rate('USD', '0.92', 1), rate('GBP', '1.15', 5)]
const event = (quantity: string, currency: string, day: number, customerId = 'one'): Event => ({
  ...{ quantity: decimal(quantity), currency, customerId },
  at: instantOf(START + day * DAY),
})
const shown = ({ currency, number, count, exchange, missing }: UsageFigure) => ({
  figure: `${plain(number)} ${currency} of ${count}`,
  parts: exchange?.parts.map(
    part => `${plain(part.number)} ${part.currency} = ${plain(part.converted)} of ${part.count}`,
  ),
  rates: exchange?.used.map(used => used.rate),
  missing: missing && formatInstant(missing),
})

test('each event is converted at the rate of its own time, and what was metered is kept by currency', async () => {
  const events = [event('10', 'EUR', 2), event('100', 'USD', 0.5), event('100', 'USD', 1), event('20', 'GBP', 6)]
  const { figures } = await convert(need('SUM'), events, RATES)
  expect(figures.map(shown)).toEqual([
    {
      figure: '215 EUR of 4',
      parts: ['10 EUR = 10 of 1', '20 GBP = 23 of 1', '200 USD = 182 of 2'],
      rates: ['1.15', '0.9', '0.92'],
      missing: undefined,
    },
  ])
})

test('money without a rate stays what it is, with the time of the first rate that is missing', async () => {
  const events = [event('10', 'EUR', 2), event('20', 'GBP', 1), event('5', 'CHF', 3), event('20', 'GBP', 6)]
  const { figures } = await convert(need('SUM'), events, RATES)
  expect(figures.map(shown)).toEqual([
    { figure: '5 CHF of 1', parts: undefined, rates: undefined, missing: '2026-03-01T00:00:00Z' },
    { figure: '33 EUR of 2', parts: ['10 EUR = 10 of 1', '20 GBP = 23 of 1'], rates: ['1.15'], missing: undefined },
    { figure: '20 GBP of 1', parts: undefined, rates: undefined, missing: '2026-03-01T00:00:00Z' },
  ])
})

test('a rate that is too old at the time of the events is named', async () => {
  const { figures } = await convert(need('SUM'), [event('100', 'USD', 30)], [rate('USD', '0.9', -2)])
  expect(figures[0]?.exchange?.stale.map(({ rate_timestamp }) => rate_timestamp)).toEqual(['2026-02-27T00:00:00Z'])
})

// A FINAL invoice keeps only the rates that it used.
test('all rates and only those that were used convert to the same digits', async () => {
  const inverse = (value: string, day: number): ExchangeRate => ({ ...rate('EUR', value, day), currency: 'USD' })
  // Day 7 has its own rate and no event; the rate of before START becomes too old within the month.
  const all = [inverse('1.13', -20), inverse('1.07', 0), inverse('1.09', 5), inverse('1.11', 7), inverse('1.13', 9)]
  const events = [0.2, 2, 5.1, 5.9, 6.5, 9.3, 10, 20].map(day => event('100', 'USD', day))
  const figuresOnly = (of: readonly UsageFigure[]) =>
    of.map(({ exchange, ...figure }) => [figure, exchange && { ...exchange, held: [] }])
  for (const each of [need('SUM'), need('AVERAGE'), need('SUM', { byValue: true })]) {
    const { figures } = await convert(each, events, all)
    const used = figures.flatMap(({ exchange }) => exchange?.used ?? [])
    expect(used.map(({ rate: value }) => value)).not.toContain('1.11')
    const again = await convert(each, events, used)
    expect(figuresOnly(again.figures)).toEqual(figuresOnly(figures))
  }
})

test('events of one conversion are added before they are converted', async () => {
  const third = [{ ...rate('EUR', '3', 0), currency: 'USD' }, rate('GBP', '1.15', 5), rate('GBP', '1.16', 6)]
  const events = [event('1', 'USD', 1), event('1', 'USD', 5.5), event('1', 'USD', 7), event('1', 'GBP', 5)]
  const { figures } = await convert(need('SUM'), events, third)
  expect(figures.map(({ number }) => plain(number))).toEqual(['2.15'])
})

test('a price of single events keeps each of them, at its worth in the currency of the price', async () => {
  const events = [event('100', 'USD', 0.5), event('100', 'USD', 2), event('100', 'USD', 3), event('90', 'EUR', 4)]
  const { figures } = await convert(need('SUM', { byValue: true }), events, RATES)
  expect(figures.map(({ number, count, split }) => [plain(number), count, split])).toEqual([
    ['180', 2, ['90']],
    ['184', 2, ['92']],
  ])
})

test('usage in the currency of the price, of numbers, or only shown is read once', async () => {
  const never = async () => {
    throw new Error('no rate is needed')
  }
  const found = { figures: [{ currency: 'EUR', number: decimal('5'), count: 1 }], byCustomer: [] }
  const foreign = { figures: [{ currency: 'USD', number: decimal('5'), count: 1 }], byCustomer: [] }
  const numbers = { figures: [{ currency: null, number: decimal('5'), count: 1 }], byCustomer: [] }
  const reading = { read: never, rates: never }
  expect(await inPricingCurrency(need('SUM'), found, reading)).toBe(found)
  expect(await inPricingCurrency(need('SUM'), numbers, reading)).toBe(numbers)
  expect(await inPricingCurrency(need('SUM', { currency: null }), foreign, reading)).toBe(foreign)
})

test('the figures are those of every event converted on its own, of each customer too, in any order', async () => {
  const events = fc.array(
    fc
      .tuple(fc.integer({ min: -500, max: 500 }), fc.constantFrom('EUR', 'USD', 'GBP'), fc.integer({ min: 6, max: 30 }))
      .map(([quantity, currency, day]) => event(String(quantity), currency, day, quantity % 2 ? 'one' : 'two')),
    { minLength: 1, maxLength: 12 },
  )
  const rates = [...RATES, rate('USD', '0.95', 12), rate('GBP', '1.2', 20)]
  const worthOf = ({ quantity, currency, at: when }: Event): Decimal => {
    if (currency === 'EUR') return quantity
    const { exchange } = exchangeAt(rates, { from: currency, to: 'EUR', when })
    return timesFraction(quantity, exchange?.factor ?? { numerator: decimal('0'), denominator: decimal('1') })
  }
  await fc.assert(
    fc.asyncProperty(events, fc.constantFrom<Type>('SUM', 'MAX', 'MIN', 'AVERAGE'), async (all, type) => {
      const { figures, byCustomer } = await convert(need(type), all, rates)
      const expectFigure = (figure: UsageFigure | undefined, own: readonly Event[]) => {
        const expected = WHOLE[type](own.map(worthOf))
        expect(figure?.count).toBe(own.length)
        expect(figure?.number.minus(expected).abs().lt(decimal('1e-30'))).toBe(true)
      }
      expect(figures).toHaveLength(1)
      expectFigure(figures[0], all)
      for (const [customerId, own] of groupBy(all, each => each.customerId))
        expectFigure(
          byCustomer.find(each => each.customerId === customerId),
          own,
        )
      expect(await convert(need(type), all.toReversed(), rates)).toEqual({ figures, byCustomer: expect.anything() })
    }),
    { numRuns: 60 },
  )
})
