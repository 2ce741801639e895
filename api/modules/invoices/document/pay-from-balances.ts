// What wallets of type BALANCE pay of an invoice: money as a means of payment, after tax (semantics 5.4 step 13, 6). Pure.
import type { InvoiceAmounts } from '../../../../shared/billing/amount-pipeline.ts'
import { type Decimal, max, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView, currencyExponent, roundDown } from '../../../../shared/money.ts'
import type { WalletBalanceView } from '../schema.ts'

/** The open money of a BALANCE wallet. */
export type PrepaidBalance = {
  readonly walletId: string
  readonly walletTypeId: string
  readonly currency: string
  readonly available: Decimal
  /** Keys of lines that it does not pay: what they charge is what puts money into it. */
  readonly except?: ReadonlySet<string>
}

/**
 * Pays the total with tax from one wallet after the other, each in its own currency only. A wallet pays nothing of an
 * invoice that gives back more than it charges, and nothing of the lines that it is filled by. A wallet that holds too
 * little pays no fraction of the smallest unit of the currency, since no payment could settle the rest. One entry for
 * each wallet that pays.
 */
export function payFromBalances(
  { currency, totals, lines }: Pick<InvoiceAmounts, 'currency' | 'totals' | 'lines'>,
  balances: readonly PrepaidBalance[],
): WalletBalanceView[] {
  let owed = max(totals.total.quantity, ZERO)
  const views: WalletBalanceView[] = []
  const show = (quantity: Decimal) => ({ amount: amountView(amount(quantity, currency)) })
  for (const { walletId, available, except, ...wallet } of balances) {
    const filling = sum(
      lines.flatMap(line => (except?.has(line.key) ? [max(line.amountIncludingTax.quantity, ZERO)] : [])),
    )
    const payable = max(owed.minus(filling), ZERO)
    const used = available.gte(payable) ? payable : roundDown(max(available, ZERO), currencyExponent(currency))
    if (wallet.currency !== currency || used.lte(ZERO)) continue
    owed = owed.minus(used)
    views.push({
      wallet_id: walletId,
      used_balance: show(used),
      left_balance: show(available.minus(used)),
      available_balance: show(available),
    })
  }
  return views
}
