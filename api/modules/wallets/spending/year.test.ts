// Simulated years of random subscriptions whose customer has prepaid money: what it pays of each invoice, against a slow model that
// counts cents. After every step all accounts sum to zero.
import { expect, test } from 'vitest'
import { sumOfAccounts } from '../../../../shared/billing/wallets/ledger.ts'
import { decimal, decimalOfInteger, plain, sum } from '../../../../shared/decimal.ts'
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
const WALLET = 'wall_1'
const HUNDRED = decimal('100')

type Grant = {
  readonly id: string
  readonly cents: number
  readonly start: number
  readonly end: number | null
  readonly promotion: boolean
}

function grantsOf({ seed, start }: Story): Grant[] {
  const random = randomOf(seed + 2_000_003)
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

/** Bills the story with the code of the product; `funds` posts what each invoice takes and what expires. */
function billWithWallet(story: Story, grants: readonly Grant[]) {
  const ledger = new Ledger()
  const check = () => expect(plain(sum([...ledger.accounts.values()].map(sumOfAccounts)))).toBe('0')
  const timesOf = (window: InvoiceWindow) => ({ ...periodOf(window), now: window.cutoffAt })
  const moveTo = (now: number): void => {
    for (const { id, cents, start, end, promotion } of grants) {
      if (start > now || ledger.accounts.has(id)) continue
      const type = promotion ? 'PROMOTION' : 'DEFAULT'
      const expireAt = end === null ? null : instantOf(end)
      ledger.grant({ id, type, startAt: instantOf(start), expireAt, seatOf: null }, cents)
      check()
    }
    ledger.expire(instantOf(now))
    check()
  }
  const funds: YearFunds = {
    payers: (id, window) => {
      moveTo(window.cutoffAt)
      const available = ledger.available(id, timesOf(window)).div(HUNDRED)
      const wallet = { walletId: WALLET, taxCategory: 'STANDARD', currency: 'EUR', available } as const
      return { wallets: available.gt(decimal('0')) ? [wallet] : [], credits: [], balances: [] }
    },
    closed: (id, { window, invoice }) => {
      const used = usesOf(invoice.columns.content).get(WALLET)?.quantity ?? decimal('0')
      // Held while it is a DRAFT, spent when it is FINAL.
      for (const final of [false, true]) {
        ledger.save(id, [Number(plain(used.times(HUNDRED))), 0], { ...timesOf(window), final })
        check()
      }
    },
  }
  return { invoices: billYear(story, { funds }), ledger }
}

test.each(SEEDS)('in the year of seed %i prepaid money pays what is due, as far as it goes', seed => {
  const story = storyOf(seed)
  const grants = grantsOf(story)
  const plainly = billYear(story)
  const { invoices, ledger } = billWithWallet(story, grants)
  const funds = new AvailableFunds(grants)
  expect(invoices.length).toBe(plainly.length)
  for (const [index, invoice] of invoices.entries()) {
    const without = plainly[index]
    if (!without) throw new Error('both have the same invoices')
    const { window } = invoice
    const paid = funds.pay(netOf(without), periodOf(window), window.cutoffAt)
    expect([netOf(invoice), linesOf(invoice, 'OTHER')]).toEqual([netOf(without) - paid, linesOf(without, 'OTHER')])
    expect(linesOf(invoice, 'WALLET').length).toBe(paid > 0 ? 1 : 0)
  }
  const spent = grants.map(({ id, cents }) => [id, cents - (funds.left.get(id) ?? 0)])
  expect(grants.map(({ id }) => [id, Number(plain(ledger.of(id).SPENT))])).toEqual(spent)
  const granted = sum([...ledger.accounts.values()].map(({ FUNDING }) => FUNDING.neg()))
  const known = grants.filter(({ id }) => ledger.accounts.has(id)).map(({ cents }) => decimalOfInteger(cents))
  expect(plain(granted)).toBe(plain(sum(known)))
})
