// Worked cases of prepaid credits: which grant pays, what expires, what comes back. Days are counted from the first of a month; an
// invoice is for the days from its start up to its end (semantics 6; contract: Wallet rules 1 and 2).
import { describe, expect, test } from 'vitest'
import { sumOfAccounts } from '../../../../shared/billing/wallets/ledger.ts'
import { plain, sum } from '../../../../shared/decimal.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { Ledger } from '../testing/ledger.ts'

const DAY = 86_400_000
const day = (number: number): Instant => instantOf(number * DAY)

type More = {
  readonly from?: number
  readonly until?: number
  readonly promotion?: true
  readonly seat?: 'ada'
}

/** A wallet, with the verbs of the cases. */
class Wallet {
  readonly ledger = new Ledger()
  today = 1

  on(today: number): this {
    this.today = today
    this.ledger.expire(day(today))
    return this
  }
  grant(id: string, quantity: number, { from = 1, until, promotion, seat }: More = {}): this {
    const expireAt = until === undefined ? null : day(until)
    const type = promotion ? 'PROMOTION' : 'DEFAULT'
    this.ledger.grant({ id, type, startAt: day(from), expireAt, seatOf: seat ?? null }, quantity)
    return this
  }
  /** Computes an invoice of days 1 to 31, or other days, that needs as much: of all use, and of the use of the seat. */
  invoice(id: string, need: number, of: { days?: [number, number]; final?: true; seat?: number } = {}): this {
    const [start, end] = of.days ?? [1, 31]
    const times = { start: day(start), end: day(end), now: day(this.today), final: of.final === true }
    this.ledger.save(id, [need, of.seat ?? 0], times)
    return this
  }
  void(id: string): this {
    return this.invoice(id, 0)
  }
  credit(id: string, quantity: number): this {
    this.ledger.credit(id, quantity)
    return this
  }
  revert(id: string): this {
    this.ledger.revert(id)
    return this
  }
  reserve(key: string, quantity: number, seat: string | null = null): this {
    this.ledger.reserve(key, seat, quantity, day(this.today))
    return this
  }
  commit(key: string, quantity: number): this {
    this.ledger.settle(key, quantity)
    return this
  }
  /** Each grant: open, reserved, spent, expired and reverted. */
  shown(): Record<string, string> {
    const accounts = [...this.ledger.accounts.values()]
    expect(plain(sum(accounts.map(sumOfAccounts)))).toBe('0')
    return Object.fromEntries(
      this.ledger.grants.map(({ id }) => [id, this.ledger.shown(id).split(' ').slice(1).join(' ')]),
    )
  }
}

type Case = readonly [name: string, wallet: (wallet: Wallet) => Wallet, shown: Record<string, string>]

const check = ([, play, shown]: Case): void => expect(play(new Wallet()).shown()).toEqual(shown)

describe('which grant pays first', () => {
  test.each<Case>([
    [
      'the one that expires first, whenever it was granted',
      w => w.grant('late', 100, { until: 60 }).grant('soon', 50, { until: 40 }).invoice('i', 80),
      { late: '70 30 0 0 0', soon: '0 50 0 0 0' },
    ],
    [
      'one that expires before one that never does',
      w => w.grant('never', 100).grant('soon', 50, { until: 40 }).invoice('i', 60),
      { never: '90 10 0 0 0', soon: '0 50 0 0 0' },
    ],
    [
      'a promotion before what was paid for, at one expiry',
      w => w.grant('paid', 50, { until: 40 }).grant('free', 50, { until: 40, promotion: true }).invoice('i', 60),
      { paid: '40 10 0 0 0', free: '0 50 0 0 0' },
    ],
    [
      'what was paid for before a promotion that expires later',
      w => w.grant('free', 50, { until: 41, promotion: true }).grant('paid', 50, { until: 40 }).invoice('i', 60),
      { free: '40 10 0 0 0', paid: '0 50 0 0 0' },
    ],
    [
      'a promotion before what was paid for, where neither expires',
      w => w.grant('paid', 50).grant('free', 50, { promotion: true }).invoice('i', 60),
      { paid: '40 10 0 0 0', free: '0 50 0 0 0' },
    ],
    [
      'at one expiry the one that started first',
      w => w.grant('second', 50, { from: 2, until: 40 }).grant('first', 50, { until: 40 }).on(5).invoice('i', 60),
      { second: '40 10 0 0 0', first: '0 50 0 0 0' },
    ],
    [
      'of two that are alike the one with the lower id, which was made first',
      w => w.grant('b', 50).grant('a', 50).invoice('i', 60),
      { b: '40 10 0 0 0', a: '0 50 0 0 0' },
    ],
    [
      'several, each to its end, and no more than there is',
      w => w.grant('a', 10, { until: 40 }).grant('b', 20, { until: 50 }).grant('c', 30, { until: 60 }).invoice('i', 99),
      { a: '0 10 0 0 0', b: '0 20 0 0 0', c: '0 30 0 0 0' },
    ],
    [
      'a seat’s own grant by the use of its occupant, the common one by all other use',
      w => w.grant('seat', 20, { seat: 'ada' }).grant('all', 50).invoice('i', 30, { seat: 15 }),
      { seat: '5 15 0 0 0', all: '20 30 0 0 0' },
    ],
  ])('%s', (...each) => check(each))
})

describe('when a grant may be spent', () => {
  test.each<Case>([
    [
      'not before it starts',
      w =>
        w
          .grant('later', 50, { from: 5 })
          .on(4)
          .reserve('r', 10)
          .invoice('i', 10, { days: [1, 5] }),
      { later: '50 0 0 0 0' },
    ],
    [
      'from the moment at which it starts',
      w => w.grant('now', 50, { from: 5 }).on(5).reserve('r', 10),
      { now: '40 10 0 0 0' },
    ],
    [
      'not at the moment at which it expires',
      w => w.grant('gone', 50, { until: 10 }).on(10).reserve('r', 10),
      { gone: '0 0 0 50 0' },
    ],
    [
      'by an invoice whose time begins at its expiry: not at all',
      w =>
        w
          .grant('gone', 50, { until: 31 })
          .on(31)
          .invoice('i', 10, { days: [31, 61] }),
      { gone: '0 0 0 50 0' },
    ],
    [
      'by an invoice for a time in which it still lived, also when that is made later: all it needs',
      w => w.grant('gone', 50, { until: 10 }).on(33).invoice('i', 20, { final: true }),
      { gone: '0 0 20 30 0' },
    ],
    [
      'by an invoice whose time is over before it starts: not at all',
      w => w.grant('new', 50, { from: 31 }).on(33).invoice('i', 20),
      { new: '50 0 0 0 0' },
    ],
    [
      'what an invoice holds stays held beyond the expiry, and the rest expires',
      w => w.grant('g', 50, { until: 10 }).on(5).invoice('i', 20).on(12),
      { g: '0 20 0 30 0' },
    ],
    [
      'what a reservation holds stays held beyond the expiry, and can be spent',
      w => w.grant('g', 50, { until: 10 }).on(9).reserve('r', 20).on(12).commit('r', 20),
      { g: '0 0 20 30 0' },
    ],
    [
      'what a reservation releases after the expiry has expired with the next look',
      w => w.grant('g', 50, { until: 10 }).on(9).reserve('r', 20).on(12).commit('r', 5).on(13),
      { g: '0 0 5 45 0' },
    ],
    [
      'an unspent rest does not roll over: the next grant is its own',
      w =>
        w
          .grant('march', 100, { until: 31 })
          .on(5)
          .invoice('i', 30, { final: true })
          .on(31)
          .grant('april', 100, { from: 31 }),
      { march: '0 0 30 70 0', april: '100 0 0 0 0' },
    ],
    [
      'a grant that never expires rolls over whole, and pays first where it is older',
      w =>
        w
          .grant('march', 100)
          .on(31)
          .grant('april', 100, { from: 31 })
          .on(40)
          .invoice('i', 120, { days: [31, 61] }),
      { march: '0 100 0 0 0', april: '80 20 0 0 0' },
    ],
  ])('%s', (...each) => check(each))
})

describe('invoices', () => {
  test.each<Case>([
    [
      'J: 80 of April take 50 and 30; VOID gives 150 again',
      w => w.grant('a', 50, { until: 31 }).grant('b', 100, { until: 62 }).on(20).invoice('i', 80).void('i'),
      { a: '50 0 0 0 0', b: '100 0 0 0 0' },
    ],
    [
      'J: only FINAL settles it',
      w =>
        w
          .grant('a', 50, { until: 31 })
          .grant('b', 100, { until: 62 })
          .on(20)
          .invoice('i', 80)
          .invoice('i', 80, { final: true }),
      { a: '0 0 50 0 0', b: '70 0 30 0 0' },
    ],
    [
      'computed again with less gives the last that it took first',
      w => w.grant('a', 50, { until: 40 }).grant('b', 50).invoice('i', 80).invoice('i', 30),
      { a: '20 30 0 0 0', b: '50 0 0 0 0' },
    ],
    [
      'computed again after a grant that expires earlier came takes that one instead',
      w => w.grant('b', 50, { until: 60 }).invoice('i', 30).grant('a', 20, { until: 40 }).invoice('i', 30),
      { b: '40 10 0 0 0', a: '0 20 0 0 0' },
    ],
    [
      'two that are open together never take more than there is',
      w => w.grant('g', 50).invoice('i', 40).invoice('j', 40),
      { g: '0 50 0 0 0' },
    ],
    [
      'the second gets what the first gives up',
      w => w.grant('g', 50).invoice('i', 40).invoice('j', 40).invoice('i', 5).invoice('j', 40),
      { g: '5 45 0 0 0' },
    ],
    [
      'VOID after the expiry: what comes back has expired',
      w => w.grant('g', 50, { until: 10 }).on(5).invoice('i', 30).on(12).void('i').on(13),
      { g: '0 0 0 50 0' },
    ],
    [
      'a credit note of part returns to the grant that expires last',
      w =>
        w
          .grant('a', 50, { until: 40 })
          .grant('b', 50, { until: 60 })
          .on(31)
          .invoice('i', 80, { final: true })
          .credit('i', 20),
      { a: '0 0 50 0 0', b: '40 0 10 0 0' },
    ],
    [
      'a credit note of all returns all',
      w =>
        w
          .grant('a', 50, { until: 40 })
          .grant('b', 50, { until: 60 })
          .on(31)
          .invoice('i', 80, { final: true })
          .credit('i', 80),
      { a: '50 0 0 0 0', b: '50 0 0 0 0' },
    ],
    [
      'what a credit note returns to an expired grant expires',
      w => w.grant('a', 50, { until: 40 }).on(31).invoice('i', 30, { final: true }).on(41).credit('i', 30).on(42),
      { a: '0 0 0 50 0' },
    ],
  ])('%s', (...each) => check(each))
})

describe('a grant that is reverted', () => {
  test.each<Case>([
    ['unused is gone', w => w.grant('g', 50).revert('g'), { g: '0 0 0 0 50' }],
    [
      'after part was spent keeps that as spent',
      w => w.grant('g', 50).on(31).invoice('i', 20, { final: true }).revert('g'),
      { g: '0 0 20 0 30' },
    ],
    ['twice is reverted once', w => w.grant('g', 50).revert('g').revert('g'), { g: '0 0 0 0 50' }],
    [
      'while an invoice holds part: the open part goes at once, the rest when the invoice is computed again',
      w => w.grant('g', 50).invoice('i', 20).revert('g').invoice('i', 20),
      { g: '0 0 0 0 50' },
    ],
    [
      'while a reservation holds part: that part may still be committed, what is released goes',
      w => w.grant('g', 50).reserve('r', 20).revert('g').commit('r', 5),
      { g: '0 0 5 0 45' },
    ],
    [
      'and then credited: what comes back goes as well',
      w => w.grant('g', 50).on(31).invoice('i', 20, { final: true }).revert('g').credit('i', 20),
      { g: '0 0 0 0 50' },
    ],
    [
      'leaves another grant to pay',
      w => w.grant('a', 50, { until: 40 }).grant('b', 50).revert('a').invoice('i', 20),
      { a: '0 0 0 0 50', b: '30 20 0 0 0' },
    ],
  ])('%s', (...each) => check(each))
})

describe('a reservation', () => {
  test.each<Case>([
    ['of all that is open', w => w.grant('g', 50).reserve('r', 50), { g: '0 50 0 0 0' }],
    ['of more than is open takes nothing', w => w.grant('g', 50).reserve('r', 51), { g: '50 0 0 0 0' }],
    [
      'beside an invoice gets what that leaves',
      w => w.grant('g', 50).invoice('i', 30).reserve('r', 21),
      { g: '20 30 0 0 0' },
    ],
    [
      'over several grants is committed in part: the first are spent, the last open again',
      w => w.grant('a', 20, { until: 40 }).grant('b', 50).reserve('r', 50).commit('r', 30),
      { a: '0 0 20 0 0', b: '40 0 10 0 0' },
    ],
    ['that is released leaves all', w => w.grant('g', 50).reserve('r', 50).commit('r', 0), { g: '50 0 0 0 0' }],
    [
      'for the occupant of a seat takes the seat’s grant and then the common one by their order',
      w => w.grant('seat', 20, { seat: 'ada', until: 40 }).grant('all', 50).reserve('r', 30, 'ada'),
      { seat: '0 20 0 0 0', all: '40 10 0 0 0' },
    ],
    [
      'that names no customer never takes a seat’s grant',
      w => w.grant('seat', 20, { seat: 'ada' }).grant('all', 5).reserve('r', 6),
      { seat: '20 0 0 0 0', all: '5 0 0 0 0' },
    ],
  ])('%s', (...each) => check(each))
})
