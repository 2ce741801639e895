// The ledger of wallets: its types of entry, and what each does to the accounts of a grant. Each entry takes from one
// account what it gives to another, so the sum over all accounts is always zero.
import { type Decimal, sum, ZERO } from '../../decimal.ts'

/** FUNDING is negative: grants are taken from it. */
export const ACCOUNTS = ['FUNDING', 'OPEN', 'RESERVED', 'SPENT', 'EXPIRED', 'REVERTED'] as const
export type Account = (typeof ACCOUNTS)[number]

export const ENTRY_TYPES = ['GRANTED', 'RESERVED', 'RELEASED', 'SPENT', 'EXPIRED', 'REVERTED'] as const
export type EntryType = (typeof ENTRY_TYPES)[number]

/** What happens to part of a grant: the type of its entry, and the accounts it moves between. */
export const MOVES = {
  GRANT: { type: 'GRANTED', from: 'FUNDING', to: 'OPEN' },
  RESERVE: { type: 'RESERVED', from: 'OPEN', to: 'RESERVED' },
  RELEASE: { type: 'RELEASED', from: 'RESERVED', to: 'OPEN' },
  SPEND: { type: 'SPENT', from: 'RESERVED', to: 'SPENT' },
  EXPIRE: { type: 'EXPIRED', from: 'OPEN', to: 'EXPIRED' },
  REVERT: { type: 'REVERTED', from: 'OPEN', to: 'REVERTED' },
  /** Expired value is spent by an invoice for a time before the expiry. */
  REOPEN: { type: 'RELEASED', from: 'EXPIRED', to: 'OPEN' },
  /** Reverses what a FINAL invoice spent, when the invoice becomes VOID. */
  RETURN: { type: 'RELEASED', from: 'SPENT', to: 'OPEN' },
} as const satisfies Record<string, { type: EntryType; from: Account; to: Account }>
export type Move = keyof typeof MOVES

export type Accounts = Readonly<Record<Account, Decimal>>

export const EMPTY_ACCOUNTS: Accounts = {
  FUNDING: ZERO,
  OPEN: ZERO,
  RESERVED: ZERO,
  SPENT: ZERO,
  EXPIRED: ZERO,
  REVERTED: ZERO,
}

/**
 * The accounts after a move. Throws RangeError when the account does not have that much; the database refuses the same.
 */
export function moved(accounts: Accounts, move: Move, quantity: Decimal): Accounts {
  const { from, to } = MOVES[move]
  if (quantity.lte(ZERO)) throw new RangeError('an entry moves more than nothing')
  const left = accounts[from].minus(quantity)
  if (from !== 'FUNDING' && left.lt(ZERO)) throw new RangeError(`${from} does not have that much`)
  return { ...accounts, [from]: left, [to]: accounts[to].plus(quantity) }
}

/** Always zero, whatever was posted. */
export const sumOfAccounts = (accounts: Accounts): Decimal => sum(Object.values(accounts))
