// Brings a grant by rule to what its charge grants now. Until its invoice is FINAL the charge may still change: a
// percentage follows the price, and a seat its time.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, max, min, plain, ZERO } from '../../../../shared/decimal.ts'
import { saveChange } from '../../../resource/commands.ts'
import { type Cause, postEntries } from '../ledger/post-entries.ts'
import type { GrantAccounts, WalletGrant } from '../table.ts'
import { walletGrantResource } from '../wallet-grant.ts'

type Terms = Pick<WalletGrant, 'grant_amount' | 'grant_credits' | 'over_granted' | 'charge'>

/**
 * Grants the difference, or reverts it: never more than is open, so that what was spent or reserved stays; the rest is
 * reverted by a later call, once it is released. The caller holds the wallet. Emits WALLET_GRANT.UPDATED for a change.
 */
export async function changeGranted(
  uow: Uow,
  { grant, accounts }: { readonly grant: WalletGrant; readonly accounts: GrantAccounts },
  of: { readonly quantity: Decimal; readonly terms: Terms; readonly cause: Cause },
): Promise<void> {
  const now = decimal((grant.grant_credits ?? grant.grant_amount)?.quantity ?? '0')
  const more = max(of.quantity.minus(now), ZERO)
  const less = min(max(now.minus(of.quantity), ZERO), decimal(accounts.open))
  const entry = { walletId: grant.wallet_id, grantId: grant.id, cause: of.cause }
  if (more.gt(ZERO)) await postEntries(uow, [{ ...entry, move: 'GRANT', quantity: more }])
  if (less.gt(ZERO)) await postEntries(uow, [{ ...entry, move: 'REVERT', quantity: less }])
  const quantity = plain(now.plus(more).minus(less))
  const terms: Terms = {
    ...of.terms,
    grant_amount: of.terms.grant_amount && { ...of.terms.grant_amount, quantity },
    grant_credits: of.terms.grant_credits && { ...of.terms.grant_credits, quantity },
    over_granted: of.terms.over_granted && { credits: { ...of.terms.over_granted.credits, quantity } },
  }
  const { grant_amount, grant_credits, over_granted, charge } = grant
  if (isDeepStrictEqual(terms, { grant_amount, grant_credits, over_granted, charge })) return
  await saveChange(uow, walletGrantResource, grant, terms)
}
