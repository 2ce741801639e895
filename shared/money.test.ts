import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum, ZERO } from './decimal.ts'
import {
  addMoney,
  allocate,
  amount,
  currencyExponent,
  type Money,
  moneyView,
  negateMoney,
  roundToTotal,
  toMoney,
} from './money.ts'

test('half a cent that a share of a period was cut from is half a cent', () => {
  // 3 included for 6 of 28 days leave 33/14 of 3: at 6.23 that is 14.685.
  const left = decimal('3').minus(decimal('3').times('6').div('28'))
  expect(plain(left.times('6.23'))).not.toBe('14.685')
  expect(plain(toMoney(amount(left.times('6.23'), 'EUR')).quantity)).toBe('14.69')
  expect(plain(toMoney(amount(left.times('-6.23'), 'EUR')).quantity)).toBe('-14.69')
  expect(plain(toMoney(amount('14.684999999999999999999999', 'EUR')).quantity)).toBe('14.68')
})

test('money rounds half up to the exponent of its currency', () => {
  expect(moneyView(toMoney(amount('1.005', 'EUR')))).toEqual({ quantity: '1.01', currency: 'EUR' })
  expect(moneyView(toMoney(amount('1.5', 'JPY')))).toEqual({ quantity: '2', currency: 'JPY' })
  expect(moneyView(toMoney(amount('1.0005', 'KWD')))).toEqual({ quantity: '1.001', currency: 'KWD' })
})

test('currencies never mix', () => {
  expect(() => addMoney([toMoney(amount('1', 'EUR')), toMoney(amount('1', 'USD'))], 'EUR')).toThrow(RangeError)
})

test('the remainder of a split goes to the largest parts first', () => {
  const parts = allocate(toMoney(amount('10.00', 'EUR')), [decimal('1'), decimal('1'), decimal('1')])
  expect(parts.map(part => plain(part.quantity))).toEqual(['3.34', '3.33', '3.33'])
})

test('the parts of a split sum to the whole, whatever the weights and the sign', () => {
  const cents = fc.integer({ min: -1_000_000, max: 1_000_000 })
  fc.assert(
    fc.property(
      cents,
      fc.array(fc.nat(1_000), { minLength: 1, maxLength: 12 }),
      fc.constantFrom('EUR', 'JPY', 'KWD'),
      (total, weights, currency) => {
        const whole = toMoney(
          amount(decimal(String(total)).div(decimal('10').pow(currencyExponent(currency))), currency),
        )
        const parts = allocate(
          whole,
          weights.map(weight => decimal(String(weight))),
        )
        expect(sum(parts.map(part => part.quantity)).eq(whole.quantity)).toBe(true)
      },
    ),
  )
})

const money = (quantity: string, currency = 'EUR'): Money => toMoney(amount(quantity, currency))
const texts = (parts: readonly Money[]): string[] => parts.map(part => plain(part.quantity))
const weights = (...values: string[]) => values.map(decimal)

describe('allocate', () => {
  const cases: readonly [Money, readonly string[], readonly string[]][] = [
    [money('10'), ['1', '1', '1'], ['3.34', '3.33', '3.33']],
    [money('-10'), ['1', '1', '1'], ['-3.34', '-3.33', '-3.33']],
    [money('0.01'), ['1', '3'], ['0', '0.01']],
    [money('100', 'JPY'), ['1', '2'], ['33', '67']],
    [money('1', 'KWD'), ['1', '1', '1'], ['0.334', '0.333', '0.333']],
    [money('5'), ['0', '0'], ['2.5', '2.5']],
    [money('1000000'), ['0', '0', '0'], ['333333.34', '333333.33', '333333.33']],
    [money('50'), ['100', '-50'], ['100', '-50']],
    [money('16.67'), ['99.99', '-20', '3.34'], ['20', '-4', '0.67']],
    [money('0'), ['1', '-1'], ['0', '0']],
  ]
  test.each(cases)('%o over %o', (total, by, expected) => {
    expect(texts(allocate(total, weights(...by)))).toEqual(expected)
  })

  test('without weights there is nobody to give to', () => {
    expect(() => allocate(money('1'), [])).toThrow(RangeError)
  })
})

const cents = fc.integer({ min: -10_000_000, max: 10_000_000 }).map(value => decimal(`${value}e-2`))
const currency = fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF')

describe('laws', () => {
  test('parts sum to the total, whatever the signs, and mirror it', () => {
    fc.assert(
      fc.property(cents, fc.array(cents, { minLength: 1, maxLength: 8 }), currency, (quantity, by, in_) => {
        const total = toMoney(amount(quantity, in_))
        const parts = allocate(total, by)
        expect(sum(parts.map(part => part.quantity)).eq(total.quantity)).toBe(true)
        expect(allocate(negateMoney(total), by).map(negateMoney)).toEqual(parts)
        for (const part of parts) expect(toMoney(part).quantity.eq(part.quantity)).toBe(true)
      }),
    )
  })

  test('with weights of one sign no part is more than one unit off its exact share', () => {
    const positive = fc.integer({ min: 1, max: 1_000_000 }).map(value => decimal(String(value)))
    fc.assert(
      fc.property(cents, fc.array(positive, { minLength: 1, maxLength: 8 }), (quantity, by) => {
        const total = toMoney(amount(quantity, 'EUR'))
        for (const [index, part] of allocate(total, by).entries()) {
          const exact = total.quantity.times(by[index] ?? ZERO).div(sum(by))
          expect(part.quantity.minus(exact).abs().lt('0.01')).toBe(true)
        }
      }),
    )
  })

  test('parts that do not sum to their total still end up summing to it', () => {
    fc.assert(
      fc.property(cents, fc.array(cents, { minLength: 1, maxLength: 8 }), (quantity, parts) => {
        const total = toMoney(amount(quantity, 'EUR'))
        expect(addMoney(roundToTotal(parts, total), 'EUR').quantity.eq(total.quantity)).toBe(true)
      }),
    )
  })
})

test('money shows the places of its currency', () => {
  expect(moneyView(money('10'))).toEqual({ quantity: '10.00', currency: 'EUR' })
  expect(moneyView(money('10.5', 'JPY'))).toEqual({ quantity: '11', currency: 'JPY' })
  expect(moneyView(money('-0.005'))).toEqual({ quantity: '-0.01', currency: 'EUR' })
})
