// Expiry as jobs: every minute, one job for each tenant with expired grants. Once a day a job checks that the ledger
// adds up.
import { sql } from 'drizzle-orm'
import type { Database } from '../../../../shared/database/database.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { searchedJobs } from '../../../jobs/tenant-jobs.ts'
import { compareLedger } from '../ledger/compare-ledger.ts'
import { livesBy } from '../time-of-wallet.ts'
import { expireGrants } from './expire-grants.ts'

export type ExpiryJobDeps = {
  readonly database: Database
  /** In the role millrace_worker. */
  readonly system: Database
  readonly logger: Logger
}

const expireGrantsJobs = searchedJobs<ExpiryJobDeps>(
  {
    name: 'find-expired-wallet-grants',
    every: '* * * * *',
    rights: { wallet_grant_accounts: ['select'], wallets: ['select'], test_clock_customers: ['select'] },
    due: now => sql`
      select distinct a.platform_id, a.environment from wallet_grant_accounts a
      where a.is_open and a.expire_at <= ${formatInstant(now)}::timestamptz
        and ${livesBy(sql`a`, null)}`,
  },
  { name: 'expire-wallet-grants', run: ({ database }, tenant) => expireGrants(database, tenant) },
)

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

export const expiryJobs = [...expireGrantsJobs, compareLedgers] as const
