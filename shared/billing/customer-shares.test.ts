import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, decimalOfInteger, ONE, placesOf, plain, sum, ZERO } from '../decimal.ts'
import { apportion, isByEvents, type Portion, settle, sharesOf } from './customer-shares.ts'

const portion = (customerId: string, weight: string, count = 1): Portion => ({
  customerId,
  weight: decimal(weight),
  count: decimalOfInteger(count),
})
const texts = (parts: ReadonlyMap<string, Decimal>): Record<string, string> =>
  Object.fromEntries([...parts].map(([id, part]) => [id, plain(part)]))

describe('examples', () => {
  test.each<[string, string, Portion[], Record<string, string>]>([
    ['by usage', '100', [portion('a', '30'), portion('b', '10')], { a: '75', b: '25' }],
    [
      'the remaining cent goes to the lower id of equal remainders',
      '100',
      [portion('c', '1'), portion('b', '1'), portion('a', '1')],
      { a: '33.34', b: '33.33', c: '33.33' },
    ],
    ['the largest remainder comes first', '0.05', [portion('a', '1'), portion('b', '2')], { a: '0.02', b: '0.03' }],
    ['a deduction', '-100', [portion('a', '2'), portion('b', '1')], { a: '-66.67', b: '-33.33' }],
    [
      'keeps as many decimals as the total has',
      '0.0001',
      [portion('a', '1'), portion('b', '3')],
      { a: '0', b: '0.0001' },
    ],
    ['without usage, by events', '9', [portion('a', '0', 2), portion('b', '0', 1)], { a: '6', b: '3' }],
    ['negative usage, by events', '9', [portion('a', '-5', 2), portion('b', '7', 1)], { a: '6', b: '3' }],
    ['one without usage', '9', [portion('a', '0', 8), portion('b', '3', 1)], { a: '0', b: '9' }],
    ['nothing asked', '0', [portion('a', '2'), portion('b', '1')], { a: '0', b: '0' }],
    ['nobody', '9', [], {}],
  ])('%s: %s', (_name, total, portions, expected) => {
    expect(texts(apportion(portions, decimal(total), 2))).toEqual(expected)
  })

  test('shares of three equal customers sum to 1', () => {
    expect(texts(sharesOf(['a', 'b', 'c'].map(id => portion(id, '7'))))).toEqual({
      a: '0.333333333334',
      b: '0.333333333333',
      c: '0.333333333333',
    })
  })
})

const number = fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 12 }))
const decimals = number.map(([units, places]) => decimal(units.toString()).div(decimal(`1${'0'.repeat(places)}`)))
const usage = fc.oneof(
  decimals.map(value => value.abs()),
  fc.constant(ZERO),
  decimals,
)
const portions = fc
  .array(fc.tuple(usage, fc.integer({ min: 1, max: 1_000_000 })), { minLength: 1, maxLength: 12 })
  .map(list =>
    list.map(([weight, count], index) => ({ customerId: `c${index}`, weight, count: decimalOfInteger(count) })),
  )
const PLACES = fc.constantFrom(0, 2, 3)

describe('laws', () => {
  test('parts sum to the total to its last decimal, and differ from their proportion by at most one smallest unit', () => {
    fc.assert(
      fc.property(portions, decimals, PLACES, (list, total, places) => {
        const parts = apportion(list, total, places)
        expect(plain(sum(parts.values()))).toBe(plain(total))
        const kept = Math.max(places, placesOf(total))
        const unit = ONE.div(decimal(`1${'0'.repeat(kept)}`))
        const weightOf = (each: Portion) => (isByEvents(list) ? each.count : each.weight)
        const all = sum(list.map(weightOf))
        for (const each of list) {
          const part = parts.get(each.customerId) ?? ZERO
          expect(placesOf(part)).toBeLessThanOrEqual(kept)
          expect(
            part
              .times(all)
              .minus(total.times(weightOf(each)))
              .abs()
              .lte(unit.times(all)),
          ).toBe(true)
        }
      }),
    )
  })

  test('shares are from 0 to 1, have at most 12 decimals and sum to 1', () => {
    fc.assert(
      fc.property(portions, list => {
        const shares = [...sharesOf(list).values()]
        expect(plain(sum(shares))).toBe('1')
        for (const share of shares) {
          expect(share.gte(ZERO) && share.lte(ONE)).toBe(true)
          expect(placesOf(share)).toBeLessThanOrEqual(12)
        }
      }),
    )
  })

  test('the order of the customers changes nothing', () => {
    const shuffled = portions.chain(list =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
    )
    fc.assert(
      fc.property(shuffled, decimals, PLACES, ([list, other], total, places) => {
        expect(texts(apportion(other, total, places))).toEqual(texts(apportion(list, total, places)))
        expect(texts(sharesOf(other))).toEqual(texts(sharesOf(list)))
      }),
    )
  })

  test('a customer with more usage never gets a smaller part, and the opposite sign gives the opposite parts', () => {
    fc.assert(
      fc.property(portions, decimals, PLACES, (list, total, places) => {
        const parts = apportion(list, total.abs(), places)
        const weightOf = (each: Portion) => (isByEvents(list) ? each.count : each.weight)
        const ordered = list.toSorted((a, b) => weightOf(a).cmp(weightOf(b)))
        for (const [index, each] of ordered.entries()) {
          const next = ordered[index + 1]
          if (!next || weightOf(next).eq(weightOf(each))) continue
          const [mine, more] = [parts.get(each.customerId) ?? ZERO, parts.get(next.customerId) ?? ZERO]
          expect(more.gte(mine)).toBe(true)
        }
        const mirrored = new Map([...apportion(list, total.abs().neg(), places)].map(([id, part]) => [id, part.neg()]))
        expect(texts(mirrored)).toEqual(texts(parts))
      }),
    )
  })

  test('apportioning the parts again changes nothing', () => {
    fc.assert(
      fc.property(portions, decimals, PLACES, (list, total, places) => {
        const parts = apportion(list, total, places)
        expect(texts(settle(parts, total, places))).toEqual(texts(parts))
      }),
    )
  })
})
