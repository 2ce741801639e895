// Leases as jobs: every minute, one job for each tenant with ended leases. Operations on a wallet end its leases
// without waiting for the job. Leases of customers who live in the time of a test clock end when the clock is advanced.
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { searchedJobs } from '../../../jobs/tenant-jobs.ts'
import type { ExpiryJobDeps } from '../expiry/jobs.ts'
import { type ClockId, livesBy } from '../time-of-wallet.ts'
import { runBatch } from './run-batch.ts'

const WALLETS_MAX = 50

/**
 * Releases everything that ended leases of the tenant still hold, or those of the customers of a test clock when it is called in the
 * time of that clock.
 */
export async function endLeases(database: Database, tenant: Tenant, clockId: ClockId = null): Promise<void> {
  const endSome = async (uow: Uow): Promise<number> => {
    const { platformId, environment } = uow.tenant
    const { rows } = await uow.tx.execute<{ wallet_id: string }>(sql`
      select distinct r.wallet_id from wallet_reservations r
      where r.platform_id = ${platformId} and r.environment = ${environment} and r.status = 'ACTIVE'
        and r.lease_until <= ${formatInstant(uow.now)}::timestamptz and ${livesBy(sql`r`, clockId)}
      limit ${WALLETS_MAX}`)
    if (rows.length > 0)
      await runBatch(
        uow,
        [],
        rows.map(({ wallet_id }) => wallet_id),
      )
    return rows.length
  }
  while ((await inTenant(database, tenant, SERVICE, endSome)) > 0);
}

export const leaseJobs = searchedJobs<ExpiryJobDeps>(
  {
    name: 'find-ended-wallet-leases',
    every: '* * * * *',
    rights: { wallet_reservations: ['select'], wallets: ['select'], test_clock_customers: ['select'] },
    due: now => sql`
      select distinct r.platform_id, r.environment from wallet_reservations r
      where r.status = 'ACTIVE' and r.lease_until <= ${formatInstant(now)}::timestamptz and ${livesBy(sql`r`, null)}`,
  },
  { name: 'end-wallet-leases', run: ({ database }, tenant) => endLeases(database, tenant) },
)
