import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, ZERO } from '../../decimal.ts'
import { at, instantOf } from '../../time.ts'
import { ACCOUNTS, EMPTY_ACCOUNTS, MOVES, type Move, moved, sumOfAccounts } from './ledger.ts'
import { inSpendingOrder, isLive, type SpendableGrant, takeFrom, totalOfParts } from './spending-order.ts'

const grant = (id: string, open: string, given: Partial<SpendableGrant> = {}): SpendableGrant => ({
  id,
  type: 'DEFAULT',
  startAt: at('2026-03-01T00:00:00Z'),
  expireAt: null,
  open: decimal(open),
  ...given,
})
const expiring = (day: string) => ({ expireAt: at(`2026-${day}T00:00:00Z`) })
const takenOf = (grants: readonly SpendableGrant[], quantity: string) => {
  const { parts, missing } = takeFrom(grants, decimal(quantity))
  return `${parts.map(part => `${part.grantId} ${plain(part.quantity)}`).join(', ')}; missing ${plain(missing)}`
}

describe('worked examples', () => {
  test.each([
    [
      'J: 50 until 30 April, 100 until 31 May, 80 used',
      [grant('b', '100', expiring('05-31')), grant('a', '50', expiring('04-30'))],
      '80',
      'a 50, b 30; missing 0',
    ],
    [
      'never-expiring grants are last',
      [grant('a', '5'), grant('b', '5', expiring('12-31'))],
      '7',
      'b 5, a 2; missing 0',
    ],
    [
      'promotions first at the same expiry',
      [grant('a', '5', expiring('04-30')), grant('b', '5', { ...expiring('04-30'), type: 'PROMOTION' })],
      '6',
      'b 5, a 1; missing 0',
    ],
    [
      'a promotion that expires later waits',
      [grant('a', '5', expiring('04-30')), grant('b', '5', { ...expiring('05-30'), type: 'PROMOTION' })],
      '6',
      'a 5, b 1; missing 0',
    ],
    ['120 needed, 100 there', [grant('a', '100')], '120', 'a 100; missing 20'],
    ['earlier starts first', [grant('a', '1'), grant('b', '1', { startAt: instantOf(0) })], '1', 'b 1; missing 0'],
    ['then ids', [grant('b', '1'), grant('a', '1')], '1', 'a 1; missing 0'],
    ['nothing there', [], '1', '; missing 1'],
  ])('%s', (_name, grants, quantity, expected) => {
    expect(takenOf(grants, quantity)).toBe(expected)
  })

  test('a grant lives from its start until before its expiry', () => {
    const of = grant('a', '1', { startAt: instantOf(10), expireAt: instantOf(20) })
    expect([9, 10, 19, 20].map(time => isLive(of, instantOf(time)))).toEqual([false, true, true, false])
    expect(isLive(grant('b', '1', { startAt: instantOf(10) }), instantOf(1e12))).toBe(true)
  })
})

const quantity = fc
  .bigInt({ min: 0n, max: 10n ** 14n })
  .map(units => decimal((units / 1000n).toString()).div(decimal('1000')))
const grants = fc
  .array(
    fc.record({
      type: fc.constantFrom('DEFAULT' as const, 'PROMOTION' as const),
      startAt: fc.integer({ min: 0, max: 5 }).map(instantOf),
      expireAt: fc.option(fc.integer({ min: 6, max: 9 }).map(instantOf)),
      open: quantity,
    }),
    { maxLength: 12 },
  )
  .map(list => list.map((each, index): SpendableGrant => ({ id: `g${index}`, ...each })))

describe('laws', () => {
  test('taken plus missing equals the quantity, and no grant gives more than it has', () => {
    fc.assert(
      fc.property(grants, quantity, (list, wanted) => {
        const { parts, missing } = takeFrom(list, wanted)
        expect(plain(totalOfParts(parts).plus(missing))).toBe(plain(wanted))
        for (const part of parts) {
          const from = list.find(({ id }) => id === part.grantId)
          expect(part.quantity.gt(ZERO) && part.quantity.lte(from?.open ?? ZERO)).toBe(true)
        }
        if (missing.gt(ZERO))
          expect(plain(totalOfParts(parts))).toBe(
            plain(totalOfParts(list.map(g => ({ grantId: g.id, quantity: g.open })))),
          )
      }),
    )
  })

  test('a grant is used only when all before it are used up, whatever order they are given in', () => {
    fc.assert(
      fc.property(grants, quantity, (list, wanted) => {
        const { parts } = takeFrom(list, wanted)
        expect(takeFrom(list.toReversed(), wanted).parts).toEqual(parts)
        const order = inSpendingOrder(list).filter(({ open }) => open.gt(ZERO))
        expect(parts.map(({ grantId }) => grantId)).toEqual(order.slice(0, parts.length).map(({ id }) => id))
        for (const part of parts.slice(0, -1))
          expect(plain(part.quantity)).toBe(plain(order.find(({ id }) => id === part.grantId)?.open ?? ZERO))
      }),
    )
  })

  test('whatever is posted, the accounts sum to zero and only FUNDING is negative', () => {
    const moves = fc.array(fc.tuple(fc.constantFrom(...(Object.keys(MOVES) as Move[])), quantity), { maxLength: 40 })
    fc.assert(
      fc.property(moves, list => {
        let accounts = EMPTY_ACCOUNTS
        for (const [move, moves] of list) {
          try {
            accounts = moved(accounts, move, moves)
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError)
          }
          expect(plain(sumOfAccounts(accounts))).toBe('0')
          for (const account of ACCOUNTS) expect(account === 'FUNDING' || accounts[account].gte(ZERO)).toBe(true)
        }
      }),
    )
  })
})
