// Simulated years of random subscriptions whose customer has prepaid money, before and after tax: what it pays of each invoice, against a
// slow model that counts cents. After every step all accounts sum to zero.
import { expect, test } from 'vitest'
import { sumOfAccounts } from '../../../../shared/billing/wallets/ledger.ts'
import { type Decimal, decimal, decimalOfInteger, plain, sum } from '../../../../shared/decimal.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type InvoiceWindow, periodOf } from '../../billing/terms/windows.ts'
import { billYear, type Closed, type YearFunds } from '../../billing/testing/year/bill-year.ts'
import { randomOf } from '../../billing/testing/year/random.ts'
import { storyOf } from '../../billing/testing/year/random-story.ts'
import { DAY, type Story, YEAR_DAYS } from '../../billing/testing/year/story.ts'
import { usesOf } from '../../invoices/wallet-uses.ts'
import { Ledger } from '../testing/ledger.ts'

const ONLY = process.env['SEED']
const SEEDS = ONLY ? [Number(ONLY)] : Array.from({ length: Number(process.env['SEEDS'] ?? 15) }, (_, seed) => seed)
/** Money that pays before tax, and money that pays after it. */
const [WALLET, BALANCE] = ['wall_1', 'wall_2']
const HUNDRED = decimal('100')

type Grant = {
  readonly id: string
  readonly cents: number
  readonly start: number
  readonly end: number | null
  readonly promotion: boolean
}

/** The random grants of one wallet. Each wallet of a story has another `offset`, so that its grants differ. */
function grantsOf({ seed, start }: Story, offset: number): Grant[] {
  const random = randomOf(seed + offset)
  const whole = (min: number, max: number) => min + Math.floor(random() * (max - min + 1))
  return Array.from({ length: whole(1, 8) }, (_, index) => {
    const from = start + whole(0, YEAR_DAYS - 50) * DAY
    const end = random() < 0.3 ? null : from + whole(1, 200) * DAY
    return { id: `g${index}`, cents: whole(1, 30_000), start: from, end, promotion: random() < 0.4 }
  })
}

/** The slow model: cents left of each grant, also of those that have expired. */
class AvailableFunds {
  readonly left: Map<string, number>
  private readonly grants: readonly Grant[]
  constructor(grants: readonly Grant[]) {
    this.left = new Map(grants.map(({ id, cents }) => [id, cents]))
    this.grants = grants.toSorted(
      (a, b) =>
        (a.end ?? Number.MAX_SAFE_INTEGER) - (b.end ?? Number.MAX_SAFE_INTEGER) ||
        Number(b.promotion) - Number(a.promotion) ||
        a.start - b.start ||
        (a.id < b.id ? -1 : 1),
    )
  }
  /** Pays of what is due as much as lived in the time of the invoice; returns how much. */
  pay(due: number, service: { start: number; end: number }, now: number): number {
    let missing = Math.max(0, due)
    for (const { id, start, end } of this.grants) {
      const lives = start <= Math.min(now, service.end - 1_000) && (end === null || end > service.start)
      const part = lives ? Math.min(missing, this.left.get(id) ?? 0) : 0
      this.left.set(id, (this.left.get(id) ?? 0) - part)
      missing -= part
    }
    return Math.max(0, due) - missing
  }
}

const centsOf = (text: string): number => Number(plain(decimal(text).times(HUNDRED)))
const netOf = ({ invoice }: Closed): number => centsOf(invoice.columns.amount_excluding_tax)
const linesOf = ({ invoice }: Closed, kind: 'WALLET' | 'OTHER'): string[] =>
  invoice.lines
    .filter(line => (line.kind === 'WALLET') === (kind === 'WALLET'))
    .map(line => `${line.kind} ${line.pricing_item_config_id} ${line.service_start} ${line.amount_excluding_tax}`)

/** A wallet with its grants and a ledger that is checked after each step. */
class Wallet {
  readonly ledger = new Ledger()
  readonly id: string
  private readonly grants: readonly Grant[]
  constructor(id: string, grants: readonly Grant[]) {
    this.id = id
    this.grants = grants
  }

  available(invoice: string, window: InvoiceWindow): Decimal {
    this.moveTo(window.cutoffAt)
    return this.ledger.available(invoice, timesOf(window)).div(HUNDRED)
  }

  /** Held while it is a DRAFT, spent when it is FINAL. */
  save(invoice: string, { window, invoice: { columns } }: Closed): void {
    const used = usesOf(columns.content).get(this.id)?.quantity ?? decimal('0')
    for (const final of [false, true]) {
      this.ledger.save(invoice, [Number(plain(used.times(HUNDRED))), 0], { ...timesOf(window), final })
      this.check()
    }
  }

  private moveTo(now: number): void {
    for (const { id, cents, start, end, promotion } of this.grants) {
      if (start > now || this.ledger.accounts.has(id)) continue
      const type = promotion ? 'PROMOTION' : 'DEFAULT'
      const expireAt = end === null ? null : instantOf(end)
      this.ledger.grant({ id, type, startAt: instantOf(start), expireAt, seatOf: null }, cents)
      this.check()
    }
    this.ledger.expire(instantOf(now))
    this.check()
  }

  private readonly check = () => expect(plain(sum([...this.ledger.accounts.values()].map(sumOfAccounts)))).toBe('0')
}

const timesOf = (window: InvoiceWindow) => ({ ...periodOf(window), now: window.cutoffAt })

/** Bills the story with the code of the product; the wallets post what each invoice takes and what expires. */
function billWithWallets(story: Story, credit: Wallet, balance: Wallet): Closed[] {
  const funds: YearFunds = {
    payers: (id, window) => {
      const [before, after] = [credit.available(id, window), balance.available(id, window)]
      const wallet = { walletId: WALLET, taxCategory: 'STANDARD', currency: 'EUR', available: before } as const
      const prepaid = { walletId: BALANCE, walletTypeId: 'balance', currency: 'EUR', available: after }
      return {
        wallets: before.gt(decimal('0')) ? [wallet] : [],
        credits: [],
        balances: after.gt(decimal('0')) ? [prepaid] : [],
      }
    },
    closed: (id, closed) => {
      credit.save(id, closed)
      balance.save(id, closed)
    },
  }
  return billYear(story, { funds })
}

/** The tax of 21 % on an amount in cents, half away from zero. */
const taxOf = (cents: number): number => Math.sign(cents) * Math.floor((Math.abs(cents) * 42 + 100) / 200)

test.each(SEEDS)('in the year of seed %i prepaid money pays what is due, as far as it goes', seed => {
  const story = storyOf(seed)
  const [before, after] = [grantsOf(story, 2_000_003), grantsOf(story, 2_500_009)]
  const [credit, balance] = [new Wallet(WALLET, before), new Wallet(BALANCE, after)]
  const plainly = billYear(story)
  const invoices = billWithWallets(story, credit, balance)
  const [funds, prepaid] = [new AvailableFunds(before), new AvailableFunds(after)]
  expect(invoices.length).toBe(plainly.length)
  for (const [index, invoice] of invoices.entries()) {
    const without = plainly[index]
    if (!without) throw new Error('both have the same invoices')
    const { window, invoice: priced } = invoice
    const paid = funds.pay(netOf(without), periodOf(window), window.cutoffAt)
    const net = netOf(without) - paid
    expect([netOf(invoice), linesOf(invoice, 'OTHER')]).toEqual([net, linesOf(without, 'OTHER')])
    expect(linesOf(invoice, 'WALLET').length).toBe(paid > 0 ? 1 : 0)
    expect(centsOf(priced.columns.tax_amount)).toBe(taxOf(net))
    const used = prepaid.pay(net + taxOf(net), periodOf(window), window.cutoffAt)
    const ofBalance = usesOf(priced.columns.content).get(BALANCE)?.quantity
    expect(ofBalance ? centsOf(plain(ofBalance)) : 0).toBe(used)
  }
  for (const [{ ledger }, grants, left] of [
    [credit, before, funds.left],
    [balance, after, prepaid.left],
  ] as const) {
    const spent = grants.map(({ id, cents }) => [id, cents - (left.get(id) ?? 0)])
    expect(grants.map(({ id }) => [id, Number(plain(ledger.of(id).SPENT))])).toEqual(spent)
    const granted = sum([...ledger.accounts.values()].map(({ FUNDING }) => FUNDING.neg()))
    const known = grants.filter(({ id }) => ledger.accounts.has(id)).map(({ cents }) => decimalOfInteger(cents))
    expect(plain(granted)).toBe(plain(sum(known)))
  }
})
