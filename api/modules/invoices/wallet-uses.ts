// What the lines of an invoice take from each wallet, and what credit notes give back of that: net money, or credits.
import { type Decimal, decimal, min, sum, ZERO } from '../../../shared/decimal.ts'
import { linesOfContent } from './credits/credit-left.ts'
import type { InvoiceContent, LineView, WalletBalanceView } from './schema.ts'
import { mayBePaidByWallets } from './stored-content.ts'

type Lines = Pick<InvoiceContent, 'periods' | 'wallet_balances'>

/**
 * A part of a wallet that is spent on its own: what was granted for the seat of one customer, or the rest, which all
 * usage may spend.
 */
export type SubBalance = { readonly walletId: string; readonly seatOf: string | null }
export type SubBalanceUse = SubBalance & { readonly quantity: Decimal }

/** The same text for the same sub-balance. */
export const subBalanceKey = ({ walletId, seatOf }: SubBalance): string =>
  seatOf === null ? walletId : `${walletId} ${seatOf}`

/** What the invoice takes out of wallets before and after tax, by the key of the sub-balance. */
export const usesOf = (content: Lines): Map<string, SubBalanceUse> =>
  new Map([...sumBySubBalance(content, (_line, used) => used), ...balanceUses(content)])

/** What wallets of type BALANCE pay of the invoice after tax. */
export const paidByBalances = (content: Lines): Decimal =>
  sum([...balanceUses(content).values()].map(({ quantity }) => quantity))

const balanceUses = ({ wallet_balances = [] }: Lines): Map<string, SubBalanceUse> =>
  new Map(
    wallet_balances.map(({ wallet_id: walletId, used_balance: used }) => [
      subBalanceKey({ walletId, seatOf: null }),
      { walletId, seatOf: null, quantity: decimal(used.amount?.quantity ?? '0') },
    ]),
  )

/**
 * What returns to each wallet that paid after tax when `kept` stays paid: what was paid last comes back first. By
 * sub-balance.
 */
export function returnsOfBalances(content: Lines, kept: Decimal): Map<string, SubBalanceUse> {
  let left = kept
  return new Map(
    [...balanceUses(content)].map(([key, use]) => {
      const stays = min(use.quantity, left)
      left = left.minus(stays)
      return [key, { ...use, quantity: use.quantity.minus(stays) }]
    }),
  )
}

/**
 * What these credit notes give back to each wallet that paid the invoice, by sub-balance. Of a wallet of money: as much as
 * they credit of the line by which it paid. Of a wallet of credits: nothing, unless they name the line that it paid. Both
 * give back all that they paid of a line once it is credited in full.
 */
export function returnsOf(original: Lines, credits: readonly Lines[]): Map<string, SubBalanceUse> {
  const credited = credits.flatMap(linesOfContent)
  const netOf = (line: LineView): Decimal => decimal(line.amount_excluding_tax.quantity)
  return sumBySubBalance(original, (line, used) => {
    const own = credited.filter(({ id }) => id === line.id)
    const back = sum(own.map(netOf))
    if (own.length > 0 && back.eq(netOf(line).neg())) return used
    return line.type === 'WALLET' ? min(back, used) : ZERO
  })
}

function sumBySubBalance(
  content: Lines,
  quantityOf: (line: LineView, used: Decimal) => Decimal,
): Map<string, SubBalanceUse> {
  const sums = new Map<string, SubBalanceUse>()
  if (!mayBePaidByWallets(content)) return sums
  for (const line of linesOfContent(content)) {
    for (const { quantity, ...subBalance } of (line.details.wallet_balances ?? []).flatMap(each =>
      partsOf(line, each),
    )) {
      const key = subBalanceKey(subBalance)
      const before = sums.get(key)?.quantity ?? ZERO
      sums.set(key, { ...subBalance, quantity: before.plus(quantityOf(line, quantity)) })
    }
  }
  return sums
}

const NONE: readonly SubBalanceUse[] = []

/**
 * What a wallet paid, counted once. Money counts on the line of the wallet; the shares that other lines show are not added. Credits
 * count on the line of the usage.
 */
function partsOf({ type }: LineView, { wallet_id: walletId, used_balance, customer_details = [] }: WalletBalanceView) {
  if (type === 'WALLET') return [{ walletId, seatOf: null, quantity: decimal(used_balance.amount?.quantity ?? '0') }]
  if (!used_balance.credits) return NONE
  const seats = customer_details.map(({ customer_id, used_balance: own }) => ({
    walletId,
    seatOf: customer_id,
    quantity: decimal(own.credits?.quantity ?? '0'),
  }))
  const rest = decimal(used_balance.credits.quantity).minus(sum(seats.map(({ quantity }) => quantity)))
  return [...(rest.gt(ZERO) ? [{ walletId, seatOf: null, quantity: rest }] : []), ...seats]
}
