// Expiry as jobs: every minute, one job for each tenant with expired grants. Once a day a job checks that the ledger
// adds up.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { compareLedger } from '../ledger/compare-ledger.ts'
import { expireGrants, livesByTheDay } from './expire-grants.ts'

export type ExpiryJobDeps = {
  readonly database: Database
  /** In the role millrace_worker. */
  readonly system: Database
  readonly logger: Logger
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
  rights: { wallet_grant_accounts: ['select'], wallets: ['select'], test_clock_customers: ['select'] },
  run: async ({ system }) => {
    await asSystem(system, 'find-expired-wallet-grants', async tx => {
      const { rows } = await tx.execute<TenantPayload>(sql`
        select distinct a.platform_id, a.environment from wallet_grant_accounts a
        where a.is_open and a.expire_at <= ${formatInstant(system.clock.now())}::timestamptz
          and ${livesByTheDay(sql`a`)}`)
      await queueTenants(tx, expireGrantsOf, rows)
    })
  },
})

const compareLedgers = defineJob<ExpiryJobDeps>({
  name: 'compare-wallet-ledger',
  class: 'long',
  every: '20 3 * * *',
  rights: { wallet_entries: ['select'], wallet_grant_accounts: ['select'] },
  run: async ({ system, logger }) => {
    const found = await compareLedger(system)
    if (found.sum === '0' && found.differences.length === 0) return
    logger.error(found, 'the ledger of wallets does not add up; npm run reconcile says where')
  },
})

export const expiryJobs = [findExpired, expireGrantsOf, compareLedgers] as const
