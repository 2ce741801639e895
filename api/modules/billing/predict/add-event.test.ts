import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum } from '../../../../shared/decimal.ts'
import { instantOf, interval } from '../../../../shared/time.ts'
import type { UsageFigures, UsageNeed } from '../usage/usage-needs.ts'
import { type NewUsage, withEvent } from './add-event.ts'

type Type = UsageNeed['calculation']['calculation_type']
const need = (calculation_type: Type, more: Partial<UsageNeed> = {}): UsageNeed => ({
  key: 'k',
  calculation: {
    id: 'c',
    reference: 'c',
    calculation_type,
    persist: false,
    meter_reference: 'calls',
    value_reference: calculation_type === 'UNIQUE' ? null : 'tokens',
    value_type: 'NUMBER',
    property_reference: calculation_type === 'UNIQUE' ? 'user' : null,
    property_type: 'STRING',
  },
  condition: null,
  interval: interval(instantOf(0), instantOf(1_000)),
  splitBy: null,
  ...more,
})
const event = (number: string, more: Partial<NewUsage> = {}): NewUsage => ({
  meterReference: 'calls',
  timestamp: instantOf(500),
  values: new Map([['tokens', { quantity: decimal(number), currency: null }]]),
  properties: {},
  ...more,
})
const NONE: UsageFigures = new Map()
const NEW = { isKnown: () => false, rates: [] }
const added = (of: UsageNeed, one: NewUsage, figures = NONE): string | undefined => {
  const [figure] = withEvent(figures, [of], one, NEW).get('k') ?? []
  return figure && `${plain(figure.number)} of ${figure.count}`
}

const WHOLE: Record<Exclude<Type, 'UNIQUE'>, (values: readonly Decimal[]) => Decimal> = {
  SUM: values => sum(values),
  MAX: values => values.reduce(max),
  MIN: values => values.reduce(min),
  AVERAGE: values => sum(values).div(decimalOfInteger(values.length)),
}
test.each(['SUM', 'MAX', 'MIN', 'AVERAGE'] as const)('adding events one by one gives the %s of all of them', type => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 20 }), list => {
      const values = list.map(decimalOfInteger)
      const all = values.reduce((figures, value) => withEvent(figures, [need(type)], event(plain(value)), NEW), NONE)
      const [figure] = all.get('k') ?? []
      expect(figure?.count).toBe(values.length)
      const difference = figure?.number.minus(WHOLE[type](values)).abs()
      expect(difference?.lt(decimal('0.000000000001'))).toBe(true)
    }),
  )
})

test('a distinct value counts once', () => {
  const of = need('UNIQUE')
  const one = event('0', { properties: { user: 'a' } })
  const isKnown = (known: boolean) => withEvent(NONE, [of], one, { isKnown: () => known, rates: [] }).get('k')?.[0]
  expect([isKnown(false)?.number, isKnown(true)?.number].map(number => number && plain(number))).toEqual(['1', '0'])
})

test.each([
  ['of another meter', event('1', { meterReference: 'other' }), need('SUM')],
  ['before the time', event('1', { timestamp: instantOf(-1) }), need('SUM')],
  ['at the end of the time', event('1', { timestamp: instantOf(1_000) }), need('SUM')],
  ['without the value', event('1', { values: new Map() }), need('SUM')],
  ['without the property', event('1'), need('UNIQUE')],
  [
    'without the property, whose name every object has',
    event('1'),
    need('UNIQUE', { calculation: { ...need('UNIQUE').calculation, property_reference: 'constructor' } }),
  ],
  [
    'that fails the condition',
    event('1', { properties: { model: 'small' } }),
    need('SUM', {
      condition: { property: { reference: 'model', type: 'STRING' }, comparator: 'EQUALS', values: ['large'] },
    }),
  ],
])('an event %s adds nothing', (_name, one, of) => {
  expect(added(of, one)).toBeUndefined()
})

const dollars = event('1', { values: new Map([['tokens', { quantity: decimal('2'), currency: 'USD' }]]) })
const euros: UsageFigures = new Map([['k', [{ currency: 'EUR', number: decimal('5'), count: 1 }]]])

test('money counts in the currency of the price, at the rate of its time', () => {
  const rate = (value: string, at: string) => ({
    ...{ base_currency: 'USD', currency: 'EUR', rate: value, rate_timestamp: at, source: 'ECB' },
  })
  const rates = [rate('0.9', '1970-01-01T00:00:00Z'), rate('0.8', '1970-01-01T00:00:01Z')]
  const of = need('SUM', { currency: 'EUR' })
  const after = (known: typeof rates) => withEvent(euros, [of], dollars, { ...NEW, rates: known }).get('k')
  expect(after(rates)?.map(({ currency, number, count }) => [currency, plain(number), count])).toEqual([
    ['EUR', '6.8', 2],
  ])
  // Without a rate it stays what it is, and pricing refuses it.
  expect(after([])?.map(({ currency }) => currency)).toEqual(['EUR', 'USD'])
})

test('money that is shown and not priced counts in its own currency', () => {
  expect(withEvent(euros, [need('SUM')], dollars, NEW).get('k')).toMatchObject([
    { currency: 'EUR', count: 1 },
    { currency: 'USD', count: 1 },
  ])
})

test('a price that is split by a property counts each value on its own', () => {
  const of = need('SUM', { splitBy: [{ reference: 'model', type: 'STRING' }] })
  const all = ['large', 'small', 'large'].reduce(
    (figures, model) => withEvent(figures, [of], event('2', { properties: { model } }), NEW),
    withEvent(NONE, [of], event('7'), NEW),
  )
  expect(all.get('k')?.map(({ split, number, count }) => [split, plain(number), count])).toEqual([
    [[null], '7', 1],
    [['small'], '2', 1],
    [['large'], '4', 2],
  ])
})
