import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum, ZERO } from '../../decimal.ts'
import { type CreditNeed, type CreditPart, drawCredits } from './credits.ts'

const part = (walletId: string, quantity: string, onlyFor: string | null = null, creditTypeId = 'c'): CreditPart => ({
  walletId,
  creditTypeId,
  onlyFor,
  quantity: decimal(quantity),
})
const need = (key: string, of: Readonly<Record<string, string>>, creditTypeId = 'c'): CreditNeed => ({
  key,
  creditTypeId,
  byCustomer: Object.entries(of).map(([id, quantity]) => [id, decimal(quantity)] as const),
})
const shown = (parts: readonly CreditPart[], ...needs: readonly CreditNeed[]) =>
  [...drawCredits(parts, needs)].map(([key, { draws, missing }]) => [
    key,
    ...draws.map(({ walletId, used, available, bySeat }) =>
      [`${walletId} ${plain(used)} of ${plain(available)}`, ...bySeat.map(([id, own]) => `${id} ${plain(own)}`)].join(
        ' ',
      ),
    ),
    `lacks ${plain(missing)}`,
  ])

describe('credits are drawn', () => {
  test('in the order of the parts, from several wallets, and what is missing is left to sell', () => {
    const parts = [part('a', '10'), part('b', '30'), part('a', '30')]
    expect(shown(parts, need('x', { me: '45' }), need('y', { me: '40' }))).toEqual([
      ['x', 'a 15 of 40', 'b 30 of 30', 'lacks 0'],
      ['y', 'a 25 of 25', 'lacks 15'],
    ])
  })

  test('of their own type alone', () => {
    expect(shown([part('a', '10', null, 'd')], need('x', { me: '5' }))).toEqual([['x', 'lacks 5']])
  })

  test('for a seat by its occupant alone', () => {
    const parts = [part('a', '100', 'one'), part('a', '100', 'two'), part('a', '5')]
    expect(shown(parts, need('x', { one: '130', two: '40', me: '10' }))).toEqual([
      ['x', 'a 145 of 205 one 100 two 40', 'lacks 35'],
    ])
    expect(shown(parts, need('x', { me: '10' }))).toEqual([['x', 'a 5 of 5', 'lacks 5']])
  })

  test('never more than there is, and what is used and what is missing is what is needed', () => {
    const customer = fc.constantFrom('one', 'two', 'me')
    const quantity = fc.integer({ min: 0, max: 1_000 }).map(value => decimal(`${value}e-2`))
    const type = fc.constantFrom('c', 'd')
    const parts = fc.array(
      fc.record({
        walletId: fc.constantFrom('a', 'b'),
        creditTypeId: type,
        onlyFor: fc.option(customer, { nil: null }),
        quantity,
      }),
      { maxLength: 8 },
    )
    const needs = fc.array(fc.tuple(type, fc.uniqueArray(fc.tuple(customer, quantity), { selector: ([id]) => id })), {
      maxLength: 5,
    })
    fc.assert(
      fc.property(parts, needs, (all, asked) => {
        const of = asked.map(([creditTypeId, byCustomer], index) => ({ key: String(index), creditTypeId, byCustomer }))
        const drawn = drawCredits(all, of)
        for (const { key, byCustomer } of of) {
          const { draws, missing } = drawn.get(key) ?? { draws: [], missing: ZERO }
          const needed = sum(byCustomer.map(([, each]) => each))
          expect(plain(sum(draws.map(({ used }) => used)).plus(missing))).toBe(plain(needed))
          expect(missing.gte(ZERO) && draws.every(({ used, available }) => used.gt(ZERO) && used.lte(available))).toBe(
            true,
          )
        }
        for (const walletId of ['a', 'b']) {
          const taken = [...drawn.values()].flatMap(({ draws }) => draws.filter(each => each.walletId === walletId))
          const there = sum(all.filter(each => each.walletId === walletId).map(each => each.quantity))
          expect(sum(taken.map(({ used }) => used)).lte(there)).toBe(true)
        }
      }),
    )
  })
})
