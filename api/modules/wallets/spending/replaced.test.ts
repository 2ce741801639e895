// An invoice that replaces another takes from the grants what its original took of them, and the rest from what is open
// (CREDIT_AND_REBILL).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Accounts, EMPTY_ACCOUNTS, MOVES, moved } from '../../../../shared/billing/wallets/ledger.ts'
import { type Decimal, decimal, decimalOfInteger, min, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { formatInstant, instantOf, interval } from '../../../../shared/time.ts'
import type { NewEntry } from '../ledger/post-entries.ts'
import { invoiceEntries } from './invoice-entries.ts'
import { returnEntries } from './return-credited.ts'
import { type FundedGrant, plusParts, usableGrants } from './usable-grants.ts'

const day = (text: string) => instantOf(Date.parse(`${text}T00:00:00Z`))
const march = interval(day('2026-03-01'), day('2026-04-01'))
const now = day('2026-04-20')
const WALLET = idOf('wall', 'wall_1')

type State = { readonly open?: string; readonly expired?: string; readonly held?: string; readonly back?: string }
type Given = State & { readonly expires?: string; readonly isReverted?: boolean }

/** The entries of an invoice that is to take `wanted` of these grants, the oldest first. */
function entriesFor(all: readonly Given[], wanted: Decimal, isFinal: boolean): NewEntry[] {
  const grants = all.map(
    ({ open = '0', expired = '0', held = '0', expires, isReverted = false }, index): FundedGrant => ({
      id: `wgra_${index}`,
      walletId: WALLET,
      seatOf: null,
      type: 'DEFAULT',
      startAt: march.start,
      expireAt: expires === undefined ? null : day(expires),
      isReverted,
      open: decimal(open),
      expired: decimal(expired),
      reserved: decimal(held),
    }),
  )
  const parts = (name: 'held' | 'back') =>
    new Map(all.flatMap((each, index) => (each[name] ? [[`wgra_${index}`, decimal(each[name])] as const] : [])))
  const returning = parts('back')
  return invoiceEntries('invo_new', {
    subBalances: [WALLET],
    uses: new Map([[WALLET, { quantity: wanted }]]),
    grants: usableGrants(grants, plusParts(parts('held'), returning), { service: march, now }),
    isFinal,
    spentAt: instantOf(march.end - 1_000),
    replacing: { returning, now },
  })
}

const shown = ({ grantId, move, quantity, effectiveAt = now }: NewEntry): string =>
  `${grantId} ${move} ${plain(quantity)} ${formatInstant(effectiveAt).slice(0, 10)}`

type Row = readonly [name: string, grants: readonly Given[], wanted: string, isFinal: boolean, moves: readonly string[]]
const table: readonly Row[] = [
  ['a draft that takes what comes back moves nothing', [{ back: '30' }], '30', false, []],
  ['a draft that takes less moves nothing', [{ back: '30' }], '12.345', false, []],
  [
    'a draft reserves what exceeds what comes back, from now on',
    [{ back: '99.80', open: '0.20' }],
    '99.90',
    false,
    ['wgra_0 RESERVE 0.1 2026-04-20'],
  ],
  [
    'to the last decimal',
    [{ back: '0.000000000001', open: '1' }],
    '0.000000000003',
    false,
    ['wgra_0 RESERVE 0.000000000002 2026-04-20'],
  ],
  [
    'a draft that needs less than before releases what it holds',
    [{ back: '10', held: '5' }],
    '9',
    false,
    ['wgra_0 RELEASE 5 2026-04-20'],
  ],
  ['a draft keeps what it holds', [{ back: '10', held: '5', open: '3' }], '15', false, []],
  ['what a grant that has expired gets back pays again', [{ back: '30', expires: '2026-04-10' }], '30', false, []],
  [
    'what had expired of it pays as it would have in time',
    [{ back: '30', expired: '4', expires: '2026-04-10' }],
    '32',
    false,
    ['wgra_0 REOPEN 2 2026-04-10', 'wgra_0 RESERVE 2 2026-04-20'],
  ],
  [
    'the grant that expires first pays first, and what the last one gets back stays in it',
    [{ back: '30', open: '5', expires: '2026-05-01' }, { back: '10' }],
    '36',
    false,
    ['wgra_0 RESERVE 5 2026-04-20'],
  ],
  [
    'a reverted grant pays no more, and takes back what the draft held',
    [{ held: '5', isReverted: true }, { open: '9' }],
    '5',
    false,
    ['wgra_0 RELEASE 5 2026-04-20', 'wgra_0 REVERT 5 2026-04-20', 'wgra_1 RESERVE 5 2026-04-20'],
  ],
  [
    'once the credit note is FINAL, what came back is reserved and spent',
    [{ open: '30', held: '5' }],
    '35',
    true,
    ['wgra_0 RESERVE 30 2026-04-20', 'wgra_0 SPEND 35 2026-04-20'],
  ],
  [
    'what is not needed any more stays open',
    [{ open: '30' }],
    '1.5',
    true,
    ['wgra_0 RESERVE 1.5 2026-04-20', 'wgra_0 SPEND 1.5 2026-04-20'],
  ],
  ['one that is VOID holds nothing', [{ back: '30', held: '5' }], '0', false, ['wgra_0 RELEASE 5 2026-04-20']],
]

test.each(table)('%s', (_name, grants, wanted, isFinal, moves) => {
  expect(entriesFor(grants, decimal(wanted), isFinal).map(shown)).toEqual(moves)
})

describe('whatever was granted, used, added and taken away', () => {
  const amounts = fc.integer({ min: 0, max: 300 })
  test('drafts and the new invoice draw nothing twice: each grant ends as if the original had never taken anything', () => {
    fc.assert(
      fc.property(
        fc.array(amounts, { minLength: 1, maxLength: 4 }),
        amounts,
        fc.array(amounts, { maxLength: 3 }),
        amounts,
        (granted, used, drafts, last) => {
          const book = new Book(granted)
          book.save(used, null)
          const spentBefore = book.spent()
          for (const wanted of drafts) {
            book.save(wanted, 'DRAFT')
            expect(book.spent()).toEqual(spentBefore)
          }
          book.credit()
          book.save(last, 'FINAL')
          const direct = new Book(granted)
          direct.save(last, null)
          expect(book.accounts.map(textOf)).toEqual(direct.accounts.map(textOf))
        },
      ),
    )
  })
})

const textOf = (of: Accounts): string => [of.OPEN, of.RESERVED, of.SPENT].map(each => plain(each)).join(' ')

/** The accounts of grants, as the database keeps them: it refuses what an account cannot cover. */
class Book {
  readonly accounts: Accounts[]
  private readonly held: Decimal[]
  private original: Decimal[] = []
  constructor(granted: readonly number[]) {
    this.accounts = granted.map(each => ({ ...EMPTY_ACCOUNTS, OPEN: decimalOfInteger(each) }))
    this.held = granted.map(() => ZERO)
  }
  spent = (): string[] => this.accounts.map(({ SPENT }) => plain(SPENT))
  save(quantity: number, replacing: 'DRAFT' | 'FINAL' | null): void {
    const isDraft = replacing === 'DRAFT'
    const all = this.accounts.map(({ OPEN }, index) => ({
      open: plain(OPEN),
      held: plain(this.held[index] ?? ZERO),
      ...(isDraft ? { back: plain(this.original[index] ?? ZERO) } : {}),
    }))
    const there = sum(all.map(({ open, held, back = '0' }) => sum([decimal(open), decimal(held), decimal(back)])))
    this.post(entriesFor(all, min(there, decimalOfInteger(quantity)), !isDraft))
    if (replacing === null) this.original = this.accounts.map(({ SPENT }) => SPENT)
  }
  /** The credit note of the original becomes FINAL. */
  credit(): void {
    const grants = this.original.map((spent, index) => ({
      id: `wgra_${index}`,
      walletId: WALLET,
      seatOf: null,
      type: 'DEFAULT' as const,
      startAt: march.start,
      expireAt: null,
      isReverted: false,
      open: ZERO,
      spent,
    }))
    this.post(returnEntries('invo_note', grants, sum(this.original)))
  }
  private post(entries: readonly NewEntry[]): void {
    for (const { grantId, move, quantity } of entries) {
      const index = Number(grantId.slice('wgra_'.length))
      this.accounts[index] = moved(this.accounts[index] ?? EMPTY_ACCOUNTS, move, quantity)
      const { from, to } = MOVES[move]
      const held = this.held[index] ?? ZERO
      this.held[index] = to === 'RESERVED' ? held.plus(quantity) : from === 'RESERVED' ? held.minus(quantity) : held
    }
  }
}
