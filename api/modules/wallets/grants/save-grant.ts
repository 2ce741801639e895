// Saves a grant: the row that describes it, and the entry that adds it to the balance.
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { at } from '../../../../shared/time.ts'
import { saveNew } from '../../../resource/commands.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { type Cause, postEntries } from '../ledger/post-entries.ts'
import { type WalletGrant, walletGrantAccounts } from '../table.ts'
import { walletGrantResource } from '../wallet-grant.ts'

export type NewGrant = Pick<
  WalletGrant,
  'customer_id' | 'billing_entity_id' | 'wallet_id' | 'type' | 'start_at' | 'expire_at' | 'source'
> &
  Partial<
    Pick<
      WalletGrant,
      'description' | 'grant_amount' | 'grant_credits' | 'paid_amount' | 'seat' | 'over_granted' | 'charge'
    >
  >

/** Saves a grant that has been checked, and posts its entry. Emits WALLET_GRANT.CREATED. */
export async function saveGrant(uow: Uow, grant: NewGrant, cause: Cause): Promise<WalletGrant> {
  await lockWallets(uow, [grant.wallet_id])
  const row = await saveNew(uow, walletGrantResource, grant)
  const { id, wallet_id, type, start_at, expire_at } = row
  await uow.tx.insert(walletGrantAccounts).values({
    platform_id: row.platform_id,
    environment: row.environment,
    grant_id: id,
    wallet_id,
    type,
    start_at,
    expire_at,
    seat_of: row.seat?.customer_id ?? null,
    funding: '0',
    open: '0',
    reserved: '0',
    spent: '0',
    expired: '0',
    reverted: '0',
  })
  const quantity = decimal((row.grant_amount ?? row.grant_credits)?.quantity ?? '0')
  await postEntries(uow, [
    { walletId: wallet_id, grantId: id, move: 'GRANT', quantity, effectiveAt: at(start_at), cause },
  ])
  return row
}
