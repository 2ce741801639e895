import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum } from '../../decimal.ts'
import { amount, toMoney } from '../../money.ts'
import { price } from '../../rating/testing/prices.ts'
import { interval, parseInstant } from '../../time.ts'
import { fraction, timesFraction } from '../fraction.ts'
import { zoneOf } from '../local-days.ts'
import { shareOf } from '../proration.ts'
import { type SeatPart, seatChanges, seatsInAdvance, seatsInArrears, withStatedSeats } from './seats.ts'
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
const money = (value: Decimal): string => plain(toMoney(amount(value, 'EUR')).quantity)
const changes = (...of: [string, string][]) => of.map(([day, seats]) => ({ at: at(day), seats: decimal(seats) }))

describe('seats', () => {
  const days = (value: number) => new Date(value).toISOString().slice(5, 10)
  const text = ({ time, seats, before }: SeatPart) =>
    `${days(time.start)}..${days(time.end)} ${plain(seats)}${before ? ` over ${plain(before)}` : ''}`
  /** The price of the full period for a part at 10 a seat, prorated by its days. */
  const costs = ({ time, seats, before }: SeatPart) =>
    timesFraction(seats.minus(before ?? '0').times('10'), shareOf(time, full, zone))

  test('assignments that start and end are counted at each time', () => {
    const times = [
      ['03-01', null],
      ['03-01', '03-11'],
      ['03-11', null],
      ['03-05', '03-20'],
    ] as const
    const counted = seatChanges(
      times.map(([start, end]) => ({ start: at(`2026-${start}`), end: end && at(`2026-${end}`) })),
    )
    expect(counted.map(change => `${days(change.at)} ${plain(change.seats)}`)).toEqual([
      '03-01 2',
      '03-05 3',
      '03-11 3',
      '03-20 2',
    ])
  })

  test('seats stated for a time hold then, and otherwise those that were counted', () => {
    const stated = (start: string, end: string | null, seats: string) => ({
      start: at(`2026-${start}`),
      end: end === null ? null : at(`2026-${end}`),
      seats: decimal(seats),
    })
    const base = changes(['2026-03-01', '2'], ['2026-03-20', '5'])
    const of = (...times: ReturnType<typeof stated>[]) =>
      withStatedSeats(base, times).map(change => `${days(change.at)} ${plain(change.seats)}`)
    expect(of()).toEqual(['03-01 2', '03-20 5'])
    expect(of(stated('03-10', '03-25', '9'))).toEqual(['03-01 2', '03-10 9', '03-20 9', '03-25 5'])
    expect(of(stated('03-10', '03-20', '9'))).toEqual(['03-01 2', '03-10 9', '03-20 5'])
    expect(of(stated('02-01', '02-10', '9'))).toEqual(['02-01 9', '02-10 0', '03-01 2', '03-20 5'])
    expect(of(stated('03-25', null, '0'), stated('03-10', '03-12', '7'))).toEqual([
      '03-01 2',
      '03-10 7',
      '03-12 2',
      '03-20 5',
      '03-25 0',
    ])
  })

  test('a change at the end of the period is of the next one', () => {
    const all = changes(['2026-03-01', '3'], ['2026-04-01', '6'])
    expect(seatsInArrears(all, full).map(text)).toEqual(['03-01..04-01 3'])
    expect(seatsInAdvance(all, full, []).map(text)).toEqual(['03-01..04-01 3'])
  })

  test('seats that are paid for from later on leave the days before them to be paid', () => {
    const all = changes(['2026-03-01', '3'])
    const paid = [{ from: at('2026-03-11'), seats: decimal('5') }]
    expect(seatsInAdvance(all, full, paid).map(text)).toEqual(['03-01..04-01 3'])
    const rising = changes(['2026-03-01', '3'], ['2026-03-15', '6'])
    expect(seatsInAdvance(rising, full, paid).map(text)).toEqual(['03-01..04-01 3', '03-15..04-01 6 over 5'])
  })

  test('in arrears each number is charged for its time; changes outside the period do not cut it', () => {
    const all = changes(['2026-01-01', '3'], ['2026-03-11', '6'], ['2026-03-16', '6'], ['2026-05-01', '99'])
    expect(seatsInArrears(all, full).map(text)).toEqual(['03-01..03-11 3', '03-11..04-01 6'])
    const back = changes(['2026-03-01', '1'], ['2026-03-05', '2'], ['2026-03-09', '3'], ['2026-03-13', '2'])
    expect(seatsInArrears(back, full).map(text).at(-1)).toBe('03-13..04-01 2')
    expect(seatsInArrears(changes(['2026-05-01', '9']), full).map(text)).toEqual(['03-01..04-01 0'])
  })

  test('5 seats at 10 from 1 March, 8 from 11 March: 70.32', () => {
    const parts = seatsInArrears(changes(['2026-03-01', '5'], ['2026-03-11', '8']), full)
    expect(money(sum(parts.map(costs)))).toBe('70.32')
  })

  test('in advance: the seats at the start, then rises above the paid number, to the end of the period', () => {
    const all = changes(
      ['2026-03-01', '5'],
      ['2026-03-11', '8'],
      ['2026-03-16', '6'],
      ['2026-03-21', '7'],
      ['2026-03-26', '9'],
    )
    const parts = seatsInAdvance(all, full, [])
    expect(parts.map(part => `${text(part)}: ${money(costs(part))}`)).toEqual([
      '03-01..04-01 5: 50',
      '03-11..04-01 8 over 5: 20.32',
      '03-26..04-01 9 over 8: 1.94',
    ])
  })

  test('in advance: what other invoices bill is not billed again', () => {
    const all = changes(['2026-03-01', '5'], ['2026-03-11', '8'])
    const paid = (day: string, seats: string) => ({ from: at(day), seats: decimal(seats) })
    expect(seatsInAdvance(all, full, [paid('2026-03-01', '5')]).map(text)).toEqual(['03-11..04-01 8 over 5'])
    expect(seatsInAdvance(all, full, [paid('2026-03-01', '5'), paid('2026-03-11', '8')])).toEqual([])
    // An assignment that is backdated to the start after the start was billed.
    expect(seatsInAdvance(all, full, [paid('2026-03-01', '4')]).map(text)).toEqual([
      '03-01..04-01 5 over 4',
      '03-11..04-01 8 over 5',
    ])
  })

  test('when seats only rise, billing in advance equals billing in arrears', () => {
    const rising = fc.uniqueArray(fc.integer({ min: 2, max: 31 }), { maxLength: 5 })
    fc.assert(
      fc.property(rising, fc.integer({ min: 0, max: 5 }), (on, paidParts) => {
        const rises = on.toSorted((a, b) => a - b).map((day, index) => ({ day, seats: String(5 + index) }))
        const all = [{ day: 1, seats: '4' }, ...rises].map(({ day, seats }) => ({
          at: at(`2026-03-${String(day).padStart(2, '0')}`),
          seats: decimal(seats),
        }))
        const inAdvance = seatsInAdvance(all, full, [])
        // Whatever part is already billed, the rest completes it.
        const paid = inAdvance.slice(0, paidParts)
        const rest = seatsInAdvance(
          all,
          full,
          paid.map(({ time, seats }) => ({ from: time.start, seats })),
        )
        const billed = sum([...paid, ...rest].map(costs))
        const total = sum(seatsInArrears(all, full).map(costs))
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
