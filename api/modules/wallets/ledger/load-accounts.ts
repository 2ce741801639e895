// The accounts of the grants of wallets, as they are now.
import { and, eq, getTableColumns, gt, sql } from 'drizzle-orm'
import type { SpendableGrant } from '../../../../shared/billing/wallets/spending-order.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Decimal, decimal, sum } from '../../../../shared/decimal.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type GrantAccounts, walletGrantAccounts, walletGrants } from '../table.ts'

const a = walletGrantAccounts

type LiveAccounts = GrantAccounts & { readonly is_reverted: boolean }

/** The grants of these wallets that still have something open or reserved; used-up grants add no cost. */
export async function loadLiveAccounts(uow: ReadUow, walletIds: readonly string[]): Promise<LiveAccounts[]> {
  if (walletIds.length === 0) return []
  const g = walletGrants
  return await uow.tx
    .select({
      ...getTableColumns(a),
      is_reverted: sql<boolean>`${g.reverted_at} is not null`,
    })
    .from(a)
    .innerJoin(g, and(inThisTenant(uow, g), eq(g.id, a.grant_id)))
    .where(and(inThisTenant(uow, a), anyOf(a.wallet_id, idsOf('wall', walletIds)), sql`${a}.is_live`))
}

/** How much of a wallet is reserved now. */
export async function reservedOf(uow: ReadUow, walletId: Id<'wall'>): Promise<Decimal> {
  const rows = await uow.tx
    .select({ reserved: a.reserved })
    .from(a)
    .where(and(inThisTenant(uow, a), eq(a.wallet_id, walletId), gt(a.reserved, '0')))
  return sum(rows.map(({ reserved }) => decimal(reserved)))
}

/** A grant in the form that the spending order needs, with its open part. */
export const spendable = ({ grant_id, type, start_at, expire_at, open }: GrantAccounts): SpendableGrant => ({
  id: grant_id,
  type,
  startAt: at(start_at),
  expireAt: expire_at === null ? null : at(expire_at),
  open: decimal(open),
})
