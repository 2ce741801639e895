// What a credit note gives back to the wallets that paid its invoice, once it is FINAL (docs/decisions/0024).
import { inSpendingOrder } from '../../../../shared/billing/wallets/spending-order.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, min, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { creditsOf } from '../../invoices/credits/linked-invoices.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { walletPaidAmount } from '../../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { returnsOf, returnsOfBalances, subBalanceKey, usesOf } from '../../invoices/wallet-uses.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { type NewEntry, postEntries } from '../ledger/post-entries.ts'
import { loadSpent, type SpentGrant } from './spent-grants.ts'

/**
 * Posts what the saved credit note gives back; nothing unless it has just become FINAL. Its original is held, so of several credit
 * notes each gives back what those before it have left. What was spent last comes back first: that is the grant that expires last.
 */
export async function returnCredited(
  uow: Uow,
  row: Pick<InvoiceRow, 'id' | 'status' | 'original_invoice_id'>,
  previous: Pick<InvoiceRow, 'status'> | null,
): Promise<void> {
  if (row.status !== 'FINAL' || previous?.status === 'FINAL' || row.original_invoice_id === null) return
  const original = await getInvoice(uow, row.original_invoice_id)
  const uses = usesOf(original.content)
  if (uses.size === 0) return
  const finals = (await creditsOf(uow, original.id)).filter(({ status }) => status === 'FINAL')
  const credited_amount = plain(sum(finals.map(({ amount_including_tax }) => decimal(amount_including_tax).neg())))
  const kept = walletPaidAmount({ ...original, credited_amount })
  const due = new Map([
    ...returnsOf(
      original.content,
      finals.map(({ content }) => content),
    ),
    ...returnsOfBalances(original.content, kept),
  ])
  await lockWallets(
    uow,
    [...uses.values()].map(({ walletId }) => walletId),
  )
  const grants = await loadSpent(uow, [original.id, ...finals.map(({ id }) => id)])
  const entries = [...uses].flatMap(([subBalance, { quantity: used }]) => {
    const own = grants.filter(grant => subBalanceKey(grant) === subBalance)
    const returned = used.minus(sum(own.map(({ spent }) => spent)))
    return returnEntries(row.id, own, (due.get(subBalance)?.quantity ?? ZERO).minus(returned))
  })
  await postEntries(uow, entries)
}

/** Gives back what was spent last. What is returned of a grant that was reverted is taken back at once. Pure. */
export function returnEntries(creditId: string, grants: readonly SpentGrant[], quantity: Decimal): NewEntry[] {
  const cause = { type: 'INVOICE', id: creditId } as const
  let left = quantity
  return inSpendingOrder(grants)
    .toReversed()
    .flatMap(({ id: grantId, walletId, spent, isReverted }): NewEntry[] => {
      const part = min(spent, left)
      if (part.lte(ZERO)) return []
      left = left.minus(part)
      const returned = { walletId, grantId: idOf('wgra', grantId), quantity: part, cause } as const
      return [{ ...returned, move: 'RETURN' }, ...(isReverted ? [{ ...returned, move: 'REVERT' } as const] : [])]
    })
}
