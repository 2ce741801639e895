// What wallets hold beside a predicted invoice, without an event and with it. Pure.
import { type Decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import type { AvailableFunds, Payers } from '../../invoices/settlement/funds.ts'
import type { usesOf } from '../../invoices/wallet-uses.ts'

type Uses = ReturnType<typeof usesOf>

/** What a wallet holds: money or credits. */
export type BalanceUnit = { readonly currency: string } | { readonly creditTypeId: string }

/** A wallet beside a predicted invoice: its balance, and the part of it that is open (not reserved). */
export type PredictedBalance = {
  readonly walletId: string
  readonly unit: BalanceUnit
  readonly balance: Decimal
  readonly open: Decimal
}

/** The wallets whose payment of the invoice changes with the event, in the order in which they pay. */
export type PredictedWallet = { readonly before: PredictedBalance; readonly after: PredictedBalance }

export function predictedWallets(
  { credits = [], wallets = [], balances = [] }: Partial<Payers>,
  { balanceOf }: Pick<AvailableFunds, 'balanceOf'>,
  uses: { readonly before: Uses; readonly after: Uses },
): PredictedWallet[] {
  if (uses.before.size === 0 && uses.after.size === 0) return []
  const ofCredits = [...new Map(credits.map(part => [part.walletId, part])).values()].map(part => ({
    walletId: part.walletId,
    unit: { creditTypeId: part.creditTypeId },
    available: sum(credits.filter(({ walletId }) => walletId === part.walletId).map(({ quantity }) => quantity)),
  }))
  const ofMoney = [...wallets, ...balances].map(({ walletId, currency, available }) => ({
    walletId,
    unit: { currency },
    available,
  }))
  return [...ofCredits, ...ofMoney].flatMap(({ walletId, unit, available }) => {
    const [before, after] = [paidBy(uses.before, walletId), paidBy(uses.after, walletId)]
    if (before.eq(after)) return []
    const balance = balanceOf(walletId)
    const beside = (paid: Decimal): PredictedBalance => ({ walletId, unit, balance, open: available.minus(paid) })
    return [{ before: beside(before), after: beside(after) }]
  })
}

/** From all its sub-balances. */
const paidBy = (uses: Uses, walletId: string): Decimal =>
  [...uses.values()].reduce((paid, use) => (use.walletId === walletId ? paid.plus(use.quantity) : paid), ZERO)
