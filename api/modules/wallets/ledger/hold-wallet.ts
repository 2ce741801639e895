// Whoever posts entries of a wallet holds its row first, so that what it decided by is still so when it posts.
import { and, asc, inArray } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type Wallet, wallets } from '../table.ts'

/** Holds these wallets until commit, in one order for everyone; gives them as they are. */
export const holdWallets = (uow: Uow, ids: readonly string[]): Promise<Wallet[]> =>
  uow.tx
    .select()
    .from(wallets)
    .where(and(inThisTenant(uow, wallets), inArray(wallets.id, [...new Set(ids)])))
    .orderBy(asc(wallets.id))
    .for('no key update')
