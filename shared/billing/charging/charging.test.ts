import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum } from '../../decimal.ts'
import { amount, toMoney } from '../../money.ts'
import { price } from '../../rating/testing/prices.ts'
import { interval, parseInstant } from '../../time.ts'
import { fraction } from '../fraction.ts'
import { zoneOf } from '../periods.ts'
import { seatsAt, seatsInAdvance, seatsInArrears } from './seats.ts'
import { billedNow, printedParts, roundedDifference } from './so-far.ts'
import { defaultUnitsFault, rateUnits, unitsOf } from './units.ts'

const at = (text: string) => {
  const instant = parseInstant(`${text}T00:00:00Z`)
  if (instant === null) throw new Error(text)
  return instant
}
const zone = zoneOf('UTC')
if (zone === null) throw new Error('UTC is a zone')
const full = interval(at('2026-03-01'), at('2026-04-01'))
const march = { covered: full, full, zone }
const money = (value: Decimal): string => plain(toMoney(amount(value, 'EUR')).quantity)
const changes = (...of: [string, string][]) => of.map(([day, seats]) => ({ at: at(day), seats: decimal(seats) }))
const NONE = decimal('0')

describe('seats', () => {
  const TEN = price('FLAT', { amount: '10' })

  test('5 seats at 10 from 1 March, 8 from 11 March: 70.32 in arrears', () => {
    const { parts, total } = seatsInArrears(TEN, changes(['2026-03-01', '5'], ['2026-03-11', '8']), NONE, march)
    expect(money(total)).toBe('70.32')
    expect(
      parts.map(({ seats, share }) => `${plain(seats)} ${plain(share.numerator)}/${plain(share.denominator)}`),
    ).toEqual(['5 10/31', '8 21/31'])
  })

  test('changes outside the period do not cut it, and the last of two at the same time counts', () => {
    const many = changes(['2026-01-01', '3'], ['2026-03-11', '4'], ['2026-03-11', '6'], ['2026-05-01', '99'])
    const { parts } = seatsInArrears(TEN, many, NONE, march)
    expect(parts.map(({ seats }) => plain(seats))).toEqual(['3', '6'])
    expect(plain(seatsAt([], decimal('2'), at('2026-03-01')))).toBe('2')
  })

  test('a cut period is charged by days, with the tiers of each number of seats', () => {
    const cut = { ...march, covered: interval(at('2026-03-11'), at('2026-04-01')) }
    expect(money(seatsInArrears(TEN, [], decimal('10'), cut).total)).toBe('67.74')
    const tiers = price('TIERED', { topBound: '5', amount: '10' }, { amount: '5' })
    // 5 seats cost 50 for 10 days, 8 seats cost 65 for 21 days.
    const { total } = seatsInArrears(tiers, changes(['2026-03-11', '8']), decimal('5'), march)
    expect(money(total)).toBe('60.16')
  })

  test('in advance: the seats at the start, then increases above the paid number, to the end of the period', () => {
    const later = changes(['2026-03-11', '8'], ['2026-03-16', '6'], ['2026-03-21', '7'], ['2026-03-26', '9'])
    const { advance, increases } = seatsInAdvance(TEN, later, decimal('5'), march)
    expect(money(advance.quantity)).toBe('50')
    expect(increases.map(({ seats, before, quantity }) => [plain(seats), plain(before), money(quantity)])).toEqual([
      ['8', '5', '20.32'],
      ['9', '8', '1.94'],
    ])
  })

  test('when seats only rise, advance and increases equal the amount in arrears, at a unit price', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 2, max: 31 }), { maxLength: 5 })
    fc.assert(
      fc.property(rising, days => {
        const all = days
          .toSorted((a, b) => a - b)
          .map((day, index) => ({
            at: at(`2026-03-${String(day).padStart(2, '0')}`),
            seats: decimal(String(5 + index)),
          }))
        const { advance, increases } = seatsInAdvance(TEN, all, decimal('4'), march)
        const billed = advance.quantity.plus(sum(increases.map(({ quantity }) => quantity)))
        const { total } = seatsInArrears(TEN, all, decimal('4'), march)
        expect(billed.minus(total).abs().lt('1e-30')).toBe(true)
      }),
    )
  })
})

describe('units of one-off items', () => {
  test('fixed_amount + amount × units; a lump sum ignores units', () => {
    const cost = (type: string, band: object, units: string) =>
      plain(rateUnits(price(type, band), decimal(units)).total.quantity)
    expect(cost('FLAT', { amount: '20', fixedAmount: '5' }, '3')).toBe('65')
    expect(cost('FIXED', { fixedAmount: '5' }, '3')).toBe('5')
  })

  test('units come from the schedule, otherwise the default, otherwise 1', () => {
    const [three, two] = [decimal('3'), decimal('2')]
    expect([unitsOf(three, two), unitsOf(null, two), unitsOf(null, null)].map(plain)).toEqual(['3', '2', '1'])
  })

  test.each([
    [null, 'FIXED', null],
    [{ number: '2' }, 'FLAT', null],
    [{ number: '2' }, 'FIXED', 'default_units'],
    [{ number: '0' }, 'FLAT', 'default_units.number'],
    [{ number: 'x' }, 'FLAT', 'default_units.number'],
    [{}, 'FLAT', 'default_units.number'],
    [{ amount: { quantity: '1', currency: 'EUR' } }, 'FLAT', 'default_units.amount'],
    [{ number: '1', count: '1' }, 'FLAT', 'default_units.count'],
  ])('default_units %o of %s: %s', (units, type, field) => {
    expect(defaultUnitsFault(units, type)?.field ?? null).toBe(field)
  })
})

describe('a sum that is billed in parts', () => {
  test('three parts of 0.999 print 1.00 together', () => {
    const parts = printedParts(decimal('0.999'), [fraction(1, 3), fraction(2, 3), fraction(1, 1)], 'EUR')
    expect(parts.map(plain)).toEqual(['0.33', '0.34', '0.33'])
    expect(plain(sum(parts))).toBe('1')
  })

  test('however it is cut, the parts sum to the rounded whole', () => {
    const value = fc.integer({ min: -1_000_000, max: 1_000_000 }).map(cents => decimal(`${cents}e-4`))
    const cuts = fc.array(fc.integer({ min: 0, max: 365 }), { maxLength: 14 })
    fc.assert(
      fc.property(value, cuts, fc.constantFrom('EUR', 'JPY', 'KWD'), (whole, days, currency) => {
        const shares = [...days.toSorted((a, b) => a - b), 365].map(day => fraction(day, 365))
        const printed = toMoney(amount(whole, currency)).quantity
        expect(plain(sum(printedParts(whole, shares, currency)))).toBe(plain(printed))
      }),
    )
  })

  test('bills what earlier invoices left, whatever they billed', () => {
    expect(plain(billedNow(decimal('10.006'), decimal('3.33'), 'EUR'))).toBe('6.68')
    expect(plain(roundedDifference(decimal('0.666'), decimal('0.333'), 'EUR'))).toBe('0.34')
  })
})
