// Reverts a grant: its open part can no longer be spent (contract: Wallet grants and balances, revert_reason). What is
// reserved or spent stays; what is released afterwards is reverted at that moment.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { getOne, lockExisting } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { type Cause, postEntries } from '../ledger/post-entries.ts'
import type { RevertReason } from '../schema.ts'
import { type WalletGrant, walletGrantAccounts } from '../table.ts'
import { walletGrantResource } from '../wallet-grant.ts'

/**
 * Reverts it once: a repeated call changes nothing, whatever its reason. Throws RESOURCE_NOT_FOUND. Emits
 * WALLET_GRANT.UPDATED.
 */
export async function revertGrant(
  uow: Uow,
  id: Id<'wgra'>,
  of: {
    readonly reason: RevertReason
    readonly cause: Cause
    /** Whether its charge is gone, and not a call reverts it: the charge may then grant again. */
    readonly byCharge?: boolean
  },
): Promise<WalletGrant> {
  const { reason, cause, byCharge = false } = of
  const { wallet_id } = await getOne(uow, walletGrantResource, id)
  await lockWallets(uow, [wallet_id])
  const grant = await lockExisting(uow, walletGrantResource, id)
  if (grant.reverted_at !== null) return grant
  const a = walletGrantAccounts
  const [accounts] = await uow.tx
    .select({ open: a.open })
    .from(a)
    .where(and(inThisTenant(uow, a), eq(a.grant_id, id)))
  const quantity = decimal(accounts?.open ?? '0')
  const entry = { walletId: wallet_id, grantId: id, move: 'REVERT', quantity, cause: { ...cause, reason } } as const
  if (quantity.gt(ZERO)) await postEntries(uow, [entry])
  const charge = byCharge && grant.charge ? { ...grant.charge, gone: true as const } : grant.charge
  const change = { reverted_at: formatInstant(uow.now), revert_reason: reason, charge }
  return await saveChange(uow, walletGrantResource, grant, change)
}
