// Posts entries for expired grants of a tenant. Balances already exclude them; the entries record it.
import { sql } from 'drizzle-orm'
import { type Actor, type Database, inTenant, type Uow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { storedTimeText } from '../../../resource/columns.ts'
import { holdWallets } from '../ledger/hold-wallet.ts'
import { postEntries } from '../ledger/post-entries.ts'

const BATCH = 200
const SERVICE: Actor = { id: null, requestId: null }

/** Expires them in batches; returns how many grants had something open. */
export async function expireGrants(database: Database, tenant: Tenant): Promise<number> {
  let expired = 0
  for (;;) {
    const count = await inTenant(database, tenant, SERVICE, expireBatch)
    expired += count
    if (count < BATCH) return expired
  }
}

async function expireBatch(uow: Uow): Promise<number> {
  const { platformId, environment } = uow.tenant
  const due = sql`platform_id = ${platformId} and environment = ${environment} and open > 0
    and expire_at <= ${formatInstant(uow.now)}::timestamptz`
  const found = await uow.tx.execute<{ grant_id: string; wallet_id: string }>(sql`
    select grant_id, wallet_id from wallet_grant_accounts where ${due} order by expire_at, grant_id limit ${BATCH}`)
  if (found.rows.length === 0) return 0
  await holdWallets(
    uow,
    found.rows.map(({ wallet_id }) => wallet_id),
  )
  // What was open before the wallets were locked may have been spent since.
  const { rows } = await uow.tx.execute<{ grant_id: string; wallet_id: string; open: string; expire_at: string }>(sql`
    select grant_id, wallet_id, open, expire_at::text as expire_at from wallet_grant_accounts
    where ${due} and grant_id = any(${sql.param(found.rows.map(({ grant_id }) => grant_id))}::text[])`)
  await postEntries(
    uow,
    rows.map(row => ({
      walletId: row.wallet_id,
      grantId: row.grant_id,
      move: 'EXPIRE' as const,
      quantity: decimal(row.open),
      effectiveAt: at(storedTimeText(row.expire_at)),
      cause: { type: 'EXPIRY' as const, id: row.grant_id },
    })),
  )
  return found.rows.length
}
