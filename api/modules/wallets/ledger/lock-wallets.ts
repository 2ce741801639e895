// Code that posts entries of a wallet locks the row of the wallet first, so that what it read is still true when it
// posts.
import { and, asc, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type Wallet, wallets } from '../table.ts'

/** Locks these wallets until commit, always in the same order, and returns them as they are. */
export const lockWallets = (uow: Uow, ids: readonly string[]): Promise<Wallet[]> =>
  uow.tx
    .select()
    .from(wallets)
    .where(and(inThisTenant(uow, wallets), anyOf(wallets.id, idsOf('wall', new Set(ids)))))
    .orderBy(asc(wallets.id))
    .for('no key update')

/** Held until commit by whoever makes a wallet of the customer, who has one of each type. */
export async function lockNewWallets(uow: Uow, customerId: string): Promise<void> {
  const { platformId, environment } = uow.tenant
  const key = `wallets ${platformId} ${environment} ${customerId}`
  await uow.tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
}
