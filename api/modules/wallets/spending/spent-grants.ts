// What invoices spent of each grant, and what an invoice that replaces one of them can spend again.
import { and, eq, or, sql } from 'drizzle-orm'
import type { SpendableGrant } from '../../../../shared/billing/wallets/spending-order.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Decimal, decimal, ZERO } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { creditsOf } from '../../invoices/credits/linked-invoices.ts'
import { spendable } from '../ledger/load-accounts.ts'
import { walletEntries, walletGrantAccounts, walletGrants } from '../table.ts'

/** A grant with what invoices have spent of it and no credit note has given back. */
export type SpentGrant = SpendableGrant & {
  readonly walletId: Id<'wall'>
  readonly seatOf: string | null
  readonly isReverted: boolean
  readonly spent: Decimal
}

/** The grants that this invoice and its credit notes moved, with what is still spent of each by them. */
export async function loadSpent(uow: ReadUow, invoiceIds: readonly string[]): Promise<SpentGrant[]> {
  const [e, a, g] = [walletEntries, walletGrantAccounts, walletGrants]
  const rows = await uow.tx
    .select({
      accounts: a,
      revertedAt: g.reverted_at,
      seat: g.seat,
      spent: sql<string>`sum(case when ${e.credit_account} = 'SPENT' then ${e.quantity} else -${e.quantity} end)::text`,
    })
    .from(e)
    .innerJoin(a, and(inThisTenant(uow, a), eq(a.grant_id, e.grant_id)))
    .innerJoin(g, and(inThisTenant(uow, g), eq(g.id, e.grant_id)))
    .where(
      and(
        inThisTenant(uow, e),
        eq(e.cause_type, 'INVOICE'),
        anyOf(e.cause_id, [...invoiceIds]),
        or(eq(e.credit_account, 'SPENT'), eq(e.debit_account, 'SPENT')),
      ),
    )
    .groupBy(a.platform_id, a.environment, a.grant_id, g.platform_id, g.environment, g.id)
  return rows.map(({ accounts, revertedAt, seat, spent }) => ({
    ...spendable(accounts),
    walletId: accounts.wallet_id,
    seatOf: seat?.customer_id ?? null,
    isReverted: revertedAt !== null,
    spent: decimal(spent),
  }))
}

/**
 * What an invoice spent of each grant and its credit notes have not given back, by the id of the grant. A reverted grant
 * is left out: what returns to it is taken back at once.
 */
export async function spentBy(uow: ReadUow, invoiceId: Id<'invo'>): Promise<Map<string, Decimal>> {
  const credits = await creditsOf(uow, invoiceId)
  const finals = credits.filter(({ status }) => status === 'FINAL').map(({ id }) => id)
  const grants = await loadSpent(uow, [invoiceId, ...finals])
  const left = grants.filter(({ isReverted, spent }) => !isReverted && spent.gt(ZERO))
  return new Map(left.map(({ id, spent }) => [id, spent]))
}
