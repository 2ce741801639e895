import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, decimalOfInteger, max, min, plain, sum, ZERO } from '../decimal.ts'
import { contains, instantOf, interval } from '../time.ts'
import { usageInterval } from './usage-interval.ts'

const at = (text: string) => instantOf(Date.parse(text))
const START = at('2026-06-01T00:00:00Z')
const JUNE = interval(START, at('2026-07-01T00:00:00Z'))
const JULY = interval(JUNE.end, at('2026-08-01T00:00:00Z'))
const AUGUST = interval(JULY.end, at('2026-09-01T00:00:00Z'))
/** The example of semantics 1.1: 5, 3 and -2 in June, 4 in July, nothing in August. */
const EVENTS = [
  ['2026-06-02T10:00:00Z', '5'],
  ['2026-06-10T10:00:00Z', '3'],
  ['2026-06-30T23:59:59.999Z', '-2'],
  ['2026-07-01T00:00:00Z', '4'],
] as const

const calculations: Record<string, (values: Decimal[]) => Decimal> = {
  SUM: sum,
  MAX: values => values.reduce(max, values[0] ?? ZERO),
  MIN: values => values.reduce(min, values[0] ?? ZERO),
  AVERAGE: values => (values.length === 0 ? ZERO : sum(values).div(decimalOfInteger(values.length))),
  UNIQUE: values => decimalOfInteger(new Set(values.map(plain)).size),
}

describe('a calculation over a period, by the examples of semantics 1.1', () => {
  for (const [calculation, persist, june, july, august] of [
    ['SUM', false, '6', '4', '0'],
    ['SUM', true, '6', '10', '10'],
    ['MAX', false, '5', '4', '0'],
    ['MAX', true, '5', '5', '5'],
    ['AVERAGE', false, '2', '4', '0'],
    ['AVERAGE', true, '2', '2.5', '2.5'],
    ['MIN', false, '-2', '4', '0'],
    ['MIN', true, '-2', '-2', '-2'],
    ['UNIQUE', false, '3', '1', '0'],
    ['UNIQUE', true, '3', '4', '4'],
  ] as const) {
    test(`${persist ? 'persist ' : ''}${calculation}: ${june}, ${july}, ${august}`, () => {
      const figures = [JUNE, JULY, AUGUST].map(period => {
        const within = usageInterval(persist, START, period)
        const values = EVENTS.filter(([time]) => contains(within, at(time))).map(([, value]) => decimal(value))
        return plain((calculations[calculation] ?? sum)(values))
      })
      expect(figures).toEqual([june, july, august])
    })
  }

  test('from the last persisted state before its end, inside its schedule', () => {
    const from = (persisted: string[], period = AUGUST) =>
      usageInterval(
        true,
        JULY.start,
        period,
        persisted.map(text => ({ at: at(text) })),
      ).start
    expect(from(['2026-06-30T23:59:59Z'])).toBe(JULY.start)
    expect(from(['2026-07-10T00:00:00Z', '2026-08-10T00:00:00Z', '2026-07-20T00:00:00Z'])).toBe(
      at('2026-08-10T00:00:00Z'),
    )
    expect(from(['2026-09-01T00:00:00Z'])).toBe(JULY.start)
    expect(usageInterval(false, START, JULY, [{ at: at('2026-07-10T00:00:00Z') }])).toEqual(JULY)
  })

  test('the next schedule starts from nothing', () => {
    expect(usageInterval(true, JULY.start, AUGUST)).toEqual(interval(JULY.start, AUGUST.end))
    expect(() => usageInterval(true, JULY.start, JUNE)).toThrow(RangeError)
  })
})

test('a period does not start before its schedule', () => {
  expect(() => usageInterval(false, JUNE.end, JUNE)).toThrow(RangeError)
  expect(usageInterval(false, JUNE.start, JUNE)).toEqual(JUNE)
})
