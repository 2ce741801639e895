// Leases as jobs: every minute, one job for each tenant with ended leases. Operations on a wallet end its leases
// without waiting for the job.
import { sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { searchedJobs } from '../../../jobs/tenant-jobs.ts'
import type { ExpiryJobDeps } from '../expiry/jobs.ts'
import { runBatch } from './run-batch.ts'

const WALLETS_MAX = 50

/** Releases everything that ended leases of the tenant still hold. */
export async function endLeases(database: Database, tenant: Tenant): Promise<void> {
  const endSome = async (uow: Uow): Promise<number> => {
    const { platformId, environment } = uow.tenant
    const { rows } = await uow.tx.execute<{ wallet_id: string }>(sql`
      select distinct wallet_id from wallet_reservations
      where platform_id = ${platformId} and environment = ${environment} and status = 'ACTIVE'
        and lease_until <= ${formatInstant(uow.now)}::timestamptz
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
    rights: { wallet_reservations: ['select'] },
    due: now => sql`
      select distinct platform_id, environment from wallet_reservations
      where status = 'ACTIVE' and lease_until <= ${formatInstant(now)}::timestamptz`,
  },
  { name: 'end-wallet-leases', run: ({ database }, tenant) => endLeases(database, tenant) },
)
