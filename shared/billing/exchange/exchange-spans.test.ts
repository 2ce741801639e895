import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { at, formatInstant, instantOf, interval } from '../../time.ts'
import { timesFraction } from '../fraction.ts'
import type { ExchangeRate } from './exchange-rates.ts'
import { exchangeAt, exchangePieces } from './exchange-spans.ts'

const DAY = 86_400_000
const START = at('2026-03-01T00:00:00Z')
const rate = (pair: string, value: string, when: string): ExchangeRate => {
  const [base_currency = '', currency = ''] = pair.split('/')
  return { base_currency, currency, rate: value, rate_timestamp: when, source: 'ECB' }
}
const RATES = [rate('USD/EUR', '0.9', '2026-03-01T00:00:00Z'), rate('USD/EUR', '0.92', '2026-03-02T00:00:00Z')]
const then = (when: string, from = 'USD', rates = RATES) => exchangeAt(rates, { from, to: 'EUR', when: at(when) })

test.each<[string, string, string, string | null]>([
  ['the last moment of a rate', 'USD', '2026-03-01T23:59:59.999Z', '90'],
  ['the moment of the next rate', 'USD', '2026-03-02T00:00:00Z', '92'],
  ['before the first rate', 'USD', '2026-02-28T23:59:59.999Z', null],
  ['a currency without rates', 'CHF', '2026-03-05T00:00:00Z', null],
])('%s', (_, from, when, expected) => {
  const { exchange } = then(when, from)
  expect(exchange && plain(timesFraction(decimal('100'), exchange.factor))).toBe(expected)
})

test('a rate is too old 31 days after its time, and not before', () => {
  const [last] = RATES
  const one = last ? [last] : []
  expect(then('2026-04-01T00:00:00Z', 'USD', one).stale).toEqual([])
  expect(then('2026-04-01T00:00:00.001Z', 'USD', one).stale).toEqual(one)
})

describe('the pieces of an interval', () => {
  const USD_TO_EUR = { from: ['USD'], to: 'EUR' }
  const PIECES = [
    ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'],
    ['2026-03-02T00:00:00Z', '2026-04-02T00:00:00.001Z'],
    ['2026-04-02T00:00:00.001Z', '2026-04-05T00:00:00Z'],
  ]
  const piecesOf = (rates: readonly ExchangeRate[]) =>
    exchangePieces(rates, interval(START, at('2026-04-05T00:00:00Z')), USD_TO_EUR).map(({ start, end }) =>
      [start, end].map(each => new Date(each).toISOString().replace('.000Z', 'Z')),
    )

  test('are cut at each rate inside it, and where a rate that still holds becomes too old', () => {
    expect(piecesOf(RATES)).toEqual(PIECES)
    const alone = interval(START, instantOf(START + 1))
    expect(exchangePieces([], alone, USD_TO_EUR)).toEqual([alone])
  })

  test('are not cut by rates that convert none of the money', () => {
    const others = Array.from({ length: 30 }, (_, day) =>
      rate('EUR/CHF', '0.94', formatInstant(instantOf(START + day * DAY + 3))),
    )
    expect(piecesOf([...RATES, ...others])).toEqual(PIECES)
  })

  test('follow each other, cover it, and convert every moment in them alike', () => {
    const day = fc.integer({ min: -40, max: 80 })
    const pair = fc.constantFrom('USD/EUR', 'EUR/USD', 'GBP/USD', 'GBP/EUR')
    const rates = fc.uniqueArray(
      fc
        .tuple(pair, day)
        .map(([of, place]) => rate(of, `1.${place + 50}`, formatInstant(instantOf(START + place * DAY)))),
      { selector: of => `${of.base_currency}${of.currency}${of.rate_timestamp}`, maxLength: 12 },
    )
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 60 * DAY }), fc.nat(), (known, length, some) => {
        const within = interval(START, instantOf(START + length))
        const pieces = exchangePieces(known, within, USD_TO_EUR)
        expect([pieces[0]?.start, pieces.at(-1)?.end]).toEqual([within.start, within.end])
        for (const [place, piece] of pieces.entries()) {
          if (place > 0) expect(piece.start).toBe(pieces[place - 1]?.end)
          const moment = instantOf(piece.start + (some % (piece.end - piece.start)))
          const of = (when: typeof moment) => exchangeAt(known, { from: 'USD', to: 'EUR', when })
          expect(of(moment)).toEqual(of(piece.start))
        }
      }),
      { numRuns: 60 },
    )
  })
})
