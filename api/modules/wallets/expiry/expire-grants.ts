// Posts entries for expired grants of a tenant. Balances already exclude them; the entries record it. Grants of customers
// who live in the time of a test clock expire when the clock is advanced.
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { storedTimeText } from '../../../resource/columns.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { type ClockId, livesBy } from '../time-of-wallet.ts'

const BATCH = 200

/**
 * Expires them in batches, those of the customers of a test clock when it is called in the time of that clock; returns
 * how many grants had something open.
 */
export async function expireGrants(database: Database, tenant: Tenant, clockId: ClockId = null): Promise<number> {
  let expired = 0
  for (;;) {
    const count = await inTenant(database, tenant, SERVICE, uow => expireBatch(uow, clockId))
    expired += count
    if (count < BATCH) return expired
  }
}

async function expireBatch(uow: Uow, clockId: ClockId): Promise<number> {
  const { platformId, environment } = uow.tenant
  const due = sql`a.platform_id = ${platformId} and a.environment = ${environment} and a.is_open
    and a.expire_at <= ${formatInstant(uow.now)}::timestamptz
    and ${livesBy(sql`a`, clockId)}`
  const found = await uow.tx.execute<{ grant_id: Id<'wgra'>; wallet_id: Id<'wall'> }>(sql`
    select grant_id, wallet_id from wallet_grant_accounts a where ${due} order by expire_at, grant_id limit ${BATCH}`)
  if (found.rows.length === 0) return 0
  await lockWallets(
    uow,
    found.rows.map(({ wallet_id }) => wallet_id),
  )
  // What was open before the wallets were locked may have been spent since.
  const { rows } = await uow.tx.execute<{
    grant_id: Id<'wgra'>
    wallet_id: Id<'wall'>
    open: string
    expire_at: string
  }>(sql`
    select grant_id, wallet_id, open, expire_at::text as expire_at from wallet_grant_accounts a
    where ${due} and a.grant_id = any(${sql.param(found.rows.map(({ grant_id }) => grant_id))}::text[])`)
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
