// A wallet in memory, moved by the code of the product: what it posts for grants, invoices, credit notes and reservations.
import { type BookedGrant, createGrantBook } from '../../../../shared/billing/wallets/grant-book.ts'
import { type Accounts, EMPTY_ACCOUNTS, MOVES, type Move, moved } from '../../../../shared/billing/wallets/ledger.ts'
import type { GrantPart } from '../../../../shared/billing/wallets/spending-order.ts'
import { type Decimal, decimalOfInteger, min, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { type Instant, interval } from '../../../../shared/time.ts'
import { subBalanceKey } from '../../invoices/wallet-uses.ts'
import { invoiceEntries } from '../spending/invoice-entries.ts'
import { returnEntries } from '../spending/return-credited.ts'
import { type FundedGrant, spentAt, usableGrants } from '../spending/usable-grants.ts'

const WALLET = 'wall_1'
/** The sub-balances of the wallet: for all use, and of one seat. */
export const SEATS = [null, 'ada'] as const

export type Terms = Pick<BookedGrant, 'id' | 'type' | 'startAt' | 'expireAt' | 'seatOf'>

/** What the product posts. Quantities are whole. */
export class Ledger {
  readonly grants: Terms[] = []
  readonly accounts = new Map<string, Accounts>()
  readonly reverted = new Set<string>()
  readonly held = new Map<string, Map<string, Decimal>>()
  readonly spent = new Map<string, Map<string, Decimal>>()
  readonly leases = new Map<string, readonly GrantPart[]>()

  of(id: string): Accounts {
    return this.accounts.get(id) ?? EMPTY_ACCOUNTS
  }
  private post(entries: readonly { grantId: string; move: Move; quantity: Decimal }[], invoice?: string): void {
    for (const { grantId, move, quantity } of entries) {
      this.accounts.set(grantId, moved(this.of(grantId), move, quantity))
      if (invoice === undefined) continue
      this.track(this.held, invoice, grantId, move, quantity, 'RESERVED')
      this.track(this.spent, invoice, grantId, move, quantity, 'SPENT')
    }
  }
  private track(
    all: Map<string, Map<string, Decimal>>,
    invoice: string,
    id: string,
    move: Move,
    quantity: Decimal,
    account: string,
  ) {
    const { from, to } = MOVES[move]
    const change = to === account ? quantity : from === account ? quantity.neg() : ZERO
    const own = all.get(invoice) ?? new Map<string, Decimal>()
    all.set(invoice, own.set(id, (own.get(id) ?? ZERO).plus(change)))
  }
  private booked(): (BookedGrant & { walletId: typeof WALLET })[] {
    return this.grants.map(grant => ({
      ...grant,
      walletId: WALLET,
      isReverted: this.reverted.has(grant.id),
      open: this.of(grant.id).OPEN,
    }))
  }
  private funded(): FundedGrant[] {
    return this.booked().map(grant => {
      const { RESERVED: reserved, EXPIRED: expired } = this.of(grant.id)
      return { ...grant, reserved, expired }
    })
  }
  /** What an invoice may take of what all use may spend. */
  available(invoice: string, of: { start: Instant; end: Instant; now: Instant }): Decimal {
    const service = interval(of.start, of.end)
    const grants = usableGrants(this.funded(), this.held.get(invoice) ?? new Map(), { service, now: of.now })
    return sum(grants.filter(({ seatOf }) => seatOf === null).map(({ open }) => open))
  }
  save(
    invoice: string,
    wants: readonly number[],
    of: { start: Instant; end: Instant; now: Instant; final: boolean },
  ): void {
    const service = interval(of.start, of.end)
    const grants = usableGrants(this.funded(), this.held.get(invoice) ?? new Map(), { service, now: of.now })
    const subBalances = SEATS.map(seatOf => subBalanceKey({ walletId: WALLET, seatOf }))
    const uses = new Map(
      subBalances.map((subBalance, index) => {
        const there = sum(grants.filter(grant => subBalanceKey(grant) === subBalance).map(({ open }) => open))
        return [subBalance, { quantity: min(there, decimalOfInteger(wants[index] ?? 0)) }] as const
      }),
    )
    this.post(
      invoiceEntries(invoice, { subBalances, uses, grants, isFinal: of.final, spentAt: spentAt(service, of.now) }),
      invoice,
    )
  }
  credit(invoice: string, quantity: number): void {
    const spent = this.spent.get(invoice) ?? new Map<string, Decimal>()
    const grants = this.booked().map(grant => ({ ...grant, spent: spent.get(grant.id) ?? ZERO }))
    this.post(returnEntries(invoice, grants, decimalOfInteger(quantity)), invoice)
  }
  reserve(key: string, seat: string | null, quantity: number, now: Instant): boolean {
    const done = createGrantBook(this.booked()).reserve(
      { walletId: WALLET, customerId: seat },
      decimalOfInteger(quantity),
      now,
    )
    if (!done) return false
    this.post(done.moves)
    this.leases.set(key, done.parts)
    return true
  }
  settle(key: string, quantity: number): void {
    this.post(createGrantBook(this.booked()).settle(this.leases.get(key) ?? [], decimalOfInteger(quantity)))
    this.leases.delete(key)
  }
  private all(id: string, move: 'REVERT' | 'EXPIRE'): void {
    const { OPEN } = this.of(id)
    if (OPEN.gt(ZERO)) this.post([{ grantId: id, move, quantity: OPEN }])
  }
  grant(terms: Terms, quantity: number): void {
    this.grants.push(terms)
    this.post([{ grantId: terms.id, move: 'GRANT', quantity: decimalOfInteger(quantity) }])
  }
  revert(id: string): void {
    if (!this.reverted.has(id)) this.all(id, 'REVERT')
    this.reverted.add(id)
  }
  expire(now: Instant): void {
    for (const { id, expireAt } of this.grants) if (expireAt !== null && expireAt <= now) this.all(id, 'EXPIRE')
  }
  shown(id: string): string {
    const { FUNDING, OPEN, RESERVED, SPENT, EXPIRED, REVERTED } = this.of(id)
    return [FUNDING, OPEN, RESERVED, SPENT, EXPIRED, REVERTED].map(plain).join(' ')
  }
}
