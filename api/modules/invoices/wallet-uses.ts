// What the lines of an invoice take from each wallet, and what credit notes give back of that, in net money.
import { type Decimal, decimal, min, sum, ZERO } from '../../../shared/decimal.ts'
import { linesOfContent } from './credits/credit-left.ts'
import type { InvoiceContent, LineView } from './schema.ts'

type Lines = Pick<InvoiceContent, 'periods'>

/** By the id of the wallet. */
export const usesOf = (content: Lines): Map<string, Decimal> => sumByWallet(content, (_line, used) => used)

/**
 * What these credit notes give back to each wallet that paid the invoice, by its id: as much as they credit of the line by which it
 * paid, and all that it paid once that line is credited in full.
 */
export function returnsOf(original: Lines, credits: readonly Lines[]): Map<string, Decimal> {
  const credited = credits.flatMap(linesOfContent)
  const netOf = (line: LineView): Decimal => decimal(line.amount_excluding_tax.quantity)
  return sumByWallet(original, (line, used) => {
    const back = sum(credited.filter(({ id }) => id === line.id).map(netOf))
    return back.eq(netOf(line).neg()) ? used : min(back, used)
  })
}

function sumByWallet(content: Lines, quantityOf: (line: LineView, used: Decimal) => Decimal): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const line of linesOfContent(content)) {
    if (line.type !== 'WALLET') continue
    for (const { wallet_id, used_balance } of line.details.wallet_balances ?? []) {
      const quantity = quantityOf(line, decimal(used_balance.amount?.quantity ?? '0'))
      sums.set(wallet_id, (sums.get(wallet_id) ?? ZERO).plus(quantity))
    }
  }
  return sums
}
