// What the lines of an invoice take from each wallet, in net money.
import { type Decimal, decimal, ZERO } from '../../../shared/decimal.ts'
import type { InvoiceContent } from './schema.ts'

/** By the id of the wallet. */
export function usesOf({ periods }: Pick<InvoiceContent, 'periods'>): Map<string, Decimal> {
  const uses = new Map<string, Decimal>()
  for (const line of periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))) {
    if (line.type !== 'WALLET') continue
    for (const { wallet_id, used_balance } of line.details.wallet_balances ?? [])
      uses.set(wallet_id, (uses.get(wallet_id) ?? ZERO).plus(decimal(used_balance.amount?.quantity ?? '0')))
  }
  return uses
}
