// Expiry as jobs: every minute one for each tenant in which something has expired.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { expireGrants } from './expire-grants.ts'

export type ExpiryJobDeps = {
  readonly database: Database
  /** In the role millrace_worker. */
  readonly system: Database
}

const expireGrantsOf = defineJob<ExpiryJobDeps, TenantPayload>({
  name: 'expire-wallet-grants',
  class: 'short',
  rights: {},
  run: async ({ database }, payload) => {
    await expireGrants(database, tenantOf(payload))
  },
})

const findExpired = defineJob<ExpiryJobDeps>({
  name: 'find-expired-wallet-grants',
  class: 'short',
  every: '* * * * *',
  rights: { wallet_grant_accounts: ['select'] },
  run: async ({ system }) => {
    await asSystem(system, 'find-expired-wallet-grants', async tx => {
      const { rows } = await tx.execute<TenantPayload>(sql`
        select distinct platform_id, environment from wallet_grant_accounts
        where open > 0 and expire_at <= ${formatInstant(system.clock.now())}::timestamptz`)
      await queueTenants(tx, expireGrantsOf, rows)
    })
  },
})

export const expiryJobs = [findExpired, expireGrantsOf] as const
