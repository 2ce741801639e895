import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, decimalOfInteger, plain, sum, ZERO } from '../../decimal.ts'
import { instantOf } from '../../time.ts'
import { type BookedGrant, createGrantBook, type Moved } from './grant-book.ts'
import { EMPTY_ACCOUNTS, moved } from './ledger.ts'
import type { GrantPart } from './spending-order.ts'

const NOW = instantOf(100)
const W = { walletId: 'w', customerId: null }
const grant = (id: string, open: string, given: Partial<BookedGrant> = {}): BookedGrant => ({
  id,
  walletId: 'w',
  type: 'DEFAULT',
  startAt: instantOf(0),
  expireAt: null,
  open: decimal(open),
  isReverted: false,
  seatOf: null,
  ...given,
})
const shown = (moves: readonly Moved[] | undefined) =>
  moves?.map(({ grantId, move, quantity }) => `${move} ${grantId} ${plain(quantity)}`)

test('reserves all of a quantity or none of it, from live grants only', () => {
  const book = createGrantBook([
    grant('a', '5', { expireAt: instantOf(200) }),
    grant('b', '5'),
    grant('expired', '9', { expireAt: NOW }),
    grant('to come', '9', { startAt: instantOf(101) }),
    grant('other', '9', { walletId: 'v' }),
  ])
  expect(book.reserve(W, decimal('10.1'), NOW)).toBeNull()
  expect(shown(book.reserve(W, decimal('7'), NOW)?.moves)).toEqual(['RESERVE a 5', 'RESERVE b 2'])
  expect(plain(book.openOf(W, NOW))).toBe('3')
  expect(book.reserve(W, decimal('3.1'), NOW)).toBeNull()
})

test('reserves what was granted for a seat for the use of its occupant alone', () => {
  const of = (customerId: string) => ({ walletId: 'w', customerId })
  const book = createGrantBook([grant('seat', '5', { seatOf: 'ada', expireAt: instantOf(200) }), grant('all', '2')])
  expect([W, of('ada'), of('bob')].map(use => plain(book.openOf(use, NOW)))).toEqual(['2', '7', '2'])
  expect(book.reserve(W, decimal('3'), NOW)).toBeNull()
  expect(book.reserve(of('bob'), decimal('3'), NOW)).toBeNull()
  expect(shown(book.reserve(of('ada'), decimal('6'), NOW)?.moves)).toEqual(['RESERVE seat 5', 'RESERVE all 1'])
})

test('settling a part spends from the first grants and releases the rest', () => {
  const book = createGrantBook([grant('a', '5', { expireAt: instantOf(200) }), grant('b', '5')])
  const parts = book.reserve(W, decimal('8'), NOW)?.parts ?? []
  expect(shown(book.settle(parts, decimal('6')))).toEqual(['SPEND a 5', 'SPEND b 1', 'RELEASE b 2'])
  expect(plain(book.openOf(W, NOW))).toBe('4')
})

test('what is released from a reverted grant is reverted too', () => {
  const book = createGrantBook([grant('a', '0', { isReverted: true })])
  expect(shown(book.settle([{ grantId: 'a', quantity: decimal('2') }], ZERO))).toEqual(['RELEASE a 2', 'REVERT a 2'])
  expect(plain(book.openOf(W, NOW))).toBe('0')
})

test('no account falls below zero and no value is created, whatever is reserved, settled in part and released', () => {
  const step = fc.record({
    take: fc.integer({ min: 1, max: 60 }),
    of: fc.nat(),
    share: fc.integer({ min: 0, max: 100 }),
  })
  const wallet = fc.array(fc.record({ open: fc.integer({ min: 1, max: 80 }), isReverted: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(wallet, fc.array(step, { maxLength: 30 }), (grants, steps) => {
      const booked = grants.map(({ open, isReverted }, i) =>
        grant(`g${i}`, isReverted ? '0' : `${open}`, { isReverted }),
      )
      const book = createGrantBook(booked)
      const accounts = new Map(
        booked.map(({ id, open }) => [id, open.gt(ZERO) ? moved(EMPTY_ACCOUNTS, 'GRANT', open) : EMPTY_ACCOUNTS]),
      )
      const follow = (moves: readonly Moved[]) => {
        // Throws when an account does not have enough.
        for (const { grantId, move, quantity } of moves)
          accounts.set(grantId, moved(accounts.get(grantId) ?? EMPTY_ACCOUNTS, move, quantity))
      }
      const held: { parts: readonly GrantPart[]; quantity: Decimal }[] = []
      for (const { take, of, share } of steps) {
        const quantity = decimalOfInteger(take)
        const reserved = book.reserve(W, quantity, NOW)
        expect(reserved !== null || book.openOf(W, NOW).lt(quantity)).toBe(true)
        if (reserved) {
          follow(reserved.moves)
          held.push({ parts: reserved.parts, quantity })
        }
        const [one] = held.splice(of % (held.length + 1), 1)
        if (one) follow(book.settle(one.parts, one.quantity.times(decimal(`${share / 100}`))))
        const open = sum([...accounts.values()].map(({ OPEN }) => OPEN))
        expect(plain(book.openOf(W, NOW))).toBe(plain(open))
      }
    }),
  )
})
