import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain, sum } from './decimal.ts'
import { addMoney, allocate, amount, currencyExponent, moneyView, toMoney } from './money.ts'

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
