// Random sequences of everything that moves value in a wallet, against a slow model that knows every single credit: a
// coin, with the grant that it is of and who has it. After every step each account of each grant is what the coins say,
// and all accounts sum to zero.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sumOfAccounts } from '../../../../shared/billing/wallets/ledger.ts'
import { plain, sum } from '../../../../shared/decimal.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { Ledger, SEATS, type Terms } from '../testing/ledger.ts'

const DAY = 86_400_000
const day = (number: number): Instant => instantOf(number * DAY)
const INVOICES = ['i0', 'i1', 'i2']

type Coin = { readonly of: Terms; at: string }
type Step =
  | {
      readonly do: 'GRANT'
      readonly size: number
      readonly promotion: boolean
      readonly from: number
      readonly days: number | null
      readonly seat: 0 | 1
    }
  | {
      readonly do: 'SAVE'
      readonly invoice: number
      readonly wants: readonly [number, number]
      readonly start: number
      readonly final: boolean
    }
  | { readonly do: 'VOID'; readonly invoice: number }
  | { readonly do: 'CREDIT'; readonly invoice: number; readonly part: number }
  | { readonly do: 'RESERVE'; readonly size: number; readonly seat: 0 | 1 }
  | { readonly do: 'SETTLE'; readonly which: number; readonly part: number }
  | { readonly do: 'REVERT'; readonly which: number }
  | { readonly do: 'WAIT'; readonly days: number }

type Of<K extends Step['do']> = Extract<Step, { readonly do: K }>

/** The slow model. */
class Coins {
  readonly coins: Coin[] = []
  readonly reverted = new Set<string>()
  readonly leases = new Map<string, Coin[]>()

  static order(a: Terms, b: Terms): number {
    const expiry = (of: Terms) => of.expireAt ?? Number.MAX_SAFE_INTEGER
    const kind = (of: Terms) => (of.type === 'PROMOTION' ? 0 : 1)
    return expiry(a) - expiry(b) || kind(a) - kind(b) || a.startAt - b.startAt || (a.id < b.id ? -1 : 1)
  }
  private free(coin: Coin): void {
    coin.at = this.reverted.has(coin.of.id) ? 'REVERTED' : 'OPEN'
  }
  /** How much one sub-balance has for the invoice, and what comes of saving it with as much of `wanted` as there is. */
  save(
    invoice: string,
    seat: string | null,
    wanted: number,
    of: { start: Instant; end: Instant; now: Instant; final: boolean },
  ): void {
    const own = this.coins.filter(({ of: { seatOf } }) => seatOf === seat)
    const time = Math.min(of.now, of.end - 1_000)
    const usable = own.filter(({ of: grant, at }) => {
      if (this.reverted.has(grant.id)) return false
      if (at === `held ${invoice}`) return true
      const lives = grant.startAt <= time && (grant.expireAt === null || grant.expireAt > of.start)
      return lives && (at === 'OPEN' || at === 'EXPIRED')
    })
    const rank = (coin: Coin) => [`held ${invoice}`, 'OPEN', 'EXPIRED'].indexOf(coin.at)
    const taken = new Set(usable.toSorted((a, b) => Coins.order(a.of, b.of) || rank(a) - rank(b)).slice(0, wanted))
    for (const coin of own) {
      if (taken.has(coin)) coin.at = `${of.final ? 'spent' : 'held'} ${invoice}`
      else if (coin.at === `held ${invoice}`) this.free(coin)
    }
  }
  credit(invoice: string, quantity: number): void {
    const spent = this.coins.filter(({ at }) => at === `spent ${invoice}`)
    for (const coin of spent.toSorted((a, b) => Coins.order(b.of, a.of)).slice(0, quantity)) this.free(coin)
  }
  reserve(key: string, seat: string | null, quantity: number, now: Instant): boolean {
    const open = this.coins
      .filter(({ of, at }) => at === 'OPEN' && (of.seatOf === null || of.seatOf === seat))
      .filter(({ of }) => of.startAt <= now && (of.expireAt === null || now < of.expireAt))
      .toSorted((a, b) => Coins.order(a.of, b.of))
    if (open.length < quantity) return false
    const taken = open.slice(0, quantity)
    for (const coin of taken) coin.at = `leased ${key}`
    this.leases.set(key, taken)
    return true
  }
  settle(key: string, quantity: number): void {
    for (const [index, coin] of (this.leases.get(key) ?? []).entries()) {
      if (index < quantity) coin.at = 'spent by lease'
      else this.free(coin)
    }
    this.leases.delete(key)
  }
  revert(id: string): void {
    this.reverted.add(id)
    for (const coin of this.coins) if (coin.of.id === id && coin.at === 'OPEN') coin.at = 'REVERTED'
  }
  expire(now: Instant): void {
    for (const coin of this.coins)
      if (coin.at === 'OPEN' && coin.of.expireAt !== null && coin.of.expireAt <= now) coin.at = 'EXPIRED'
  }
  shown(id: string): string {
    const own = this.coins.filter(({ of }) => of.id === id)
    const count = (...starts: string[]) => own.filter(({ at }) => starts.some(text => at.startsWith(text))).length
    return [
      -own.length,
      count('OPEN'),
      count('held', 'leased'),
      count('spent'),
      count('EXPIRED'),
      count('REVERTED'),
    ].join(' ')
  }
}

const size = fc.integer({ min: 1, max: 9 })
const invoice = fc.nat({ max: INVOICES.length - 1 })
const seat = fc.constantFrom(0 as const, 1 as const)
const step = fc.oneof(
  fc.record({
    do: fc.constant('GRANT' as const),
    size,
    promotion: fc.boolean(),
    from: fc.integer({ min: -3, max: 2 }),
    days: fc.option(fc.integer({ min: 1, max: 9 })),
    seat,
  }),
  fc.record({
    do: fc.constant('SAVE' as const),
    invoice,
    wants: fc.tuple(fc.nat({ max: 14 }), fc.nat({ max: 6 })),
    start: fc.integer({ min: -4, max: 1 }),
    final: fc.boolean(),
  }),
  fc.record({ do: fc.constant('VOID' as const), invoice }),
  fc.record({ do: fc.constant('CREDIT' as const), invoice, part: fc.nat({ max: 9 }) }),
  fc.record({ do: fc.constant('RESERVE' as const), size, seat }),
  fc.record({ do: fc.constant('SETTLE' as const), which: fc.nat({ max: 9 }), part: fc.nat({ max: 9 }) }),
  fc.record({ do: fc.constant('REVERT' as const), which: fc.nat({ max: 9 }) }),
  fc.record({ do: fc.constant('WAIT' as const), days: fc.integer({ min: 1, max: 4 }) }),
)

class World {
  readonly model = new Coins()
  readonly ledger = new Ledger()
  readonly closed = new Map<string, 'FINAL' | 'VOID'>()
  private today = 10
  private steps = 0

  private get now(): Instant {
    return day(this.today)
  }
  grant({ size, promotion, from, days, seat }: Of<'GRANT'>): void {
    const startAt = day(this.today + from)
    const terms: Terms = {
      id: `g${this.steps}`,
      type: promotion ? 'PROMOTION' : 'DEFAULT',
      startAt,
      expireAt: days === null ? null : instantOf(startAt + days * DAY),
      seatOf: SEATS[seat],
    }
    for (let coin = 0; coin < size; coin += 1) this.model.coins.push({ of: terms, at: 'OPEN' })
    this.ledger.grant(terms, size)
  }
  save({ invoice, wants, start, final }: Of<'SAVE'>): void {
    const id = INVOICES[invoice] ?? ''
    if (this.closed.has(id)) return
    const from = day(this.today + start)
    const of = { start: from, end: instantOf(from + 3 * DAY), now: this.now, final }
    for (const [place, seatOf] of SEATS.entries()) this.model.save(id, seatOf, wants[place] ?? 0, of)
    this.ledger.save(id, wants, of)
    if (final) this.closed.set(id, 'FINAL')
  }
  void({ invoice }: Of<'VOID'>): void {
    const id = INVOICES[invoice] ?? ''
    if (this.closed.has(id)) return
    this.save({ do: 'SAVE', invoice, wants: [0, 0], start: 0, final: false })
    this.closed.set(id, 'VOID')
  }
  credit({ invoice, part }: Of<'CREDIT'>): void {
    const id = INVOICES[invoice] ?? ''
    if (this.closed.get(id) !== 'FINAL') return
    this.model.credit(id, part)
    this.ledger.credit(id, part)
  }
  reserve({ seat, size }: Of<'RESERVE'>): void {
    const of = [`r${this.steps}`, SEATS[seat], size, this.now] as const
    expect(this.ledger.reserve(...of)).toBe(this.model.reserve(...of))
  }
  settle({ which, part }: Of<'SETTLE'>): void {
    const { leases } = this.model
    const key = [...leases.keys()][which % Math.max(leases.size, 1)]
    if (key === undefined) return
    const quantity = Math.min(part, leases.get(key)?.length ?? 0)
    this.model.settle(key, quantity)
    this.ledger.settle(key, quantity)
  }
  revert({ which }: Of<'REVERT'>): void {
    const { grants } = this.ledger
    const id = grants[which % Math.max(grants.length, 1)]?.id
    if (id === undefined) return
    this.model.revert(id)
    this.ledger.revert(id)
  }
  wait({ days }: Of<'WAIT'>): void {
    this.today += days
    this.model.expire(this.now)
    this.ledger.expire(this.now)
  }
  check(): void {
    this.steps += 1
    const { ledger, model } = this
    expect(plain(sum([...ledger.accounts.values()].map(sumOfAccounts)))).toBe('0')
    const each = (shown: (id: string) => string) => ledger.grants.map(({ id }) => `${id}: ${shown(id)}`)
    expect(each(id => ledger.shown(id))).toEqual(each(id => model.shown(id)))
  }
}

const ACT: { readonly [K in Step['do']]: (world: World, step: Of<K>) => void } = {
  GRANT: (world, step) => world.grant(step),
  SAVE: (world, step) => world.save(step),
  VOID: (world, step) => world.void(step),
  CREDIT: (world, step) => world.credit(step),
  RESERVE: (world, step) => world.reserve(step),
  SETTLE: (world, step) => world.settle(step),
  REVERT: (world, step) => world.revert(step),
  WAIT: (world, step) => world.wait(step),
}
const act = <K extends Step['do']>(world: World, kind: K, of: Of<K>): void => ACT[kind](world, of)

function play(steps: readonly Step[]): void {
  const world = new World()
  for (const each of steps) {
    act(world, each.do, each as never)
    world.check()
  }
}

test('whatever is granted, invoiced, voided, credited, reserved, reverted and expired, every account is what its coins say', () => {
  const RUNS = Number(process.env['SEEDS'] ?? 300)
  fc.assert(fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), play), { numRuns: RUNS })
})
