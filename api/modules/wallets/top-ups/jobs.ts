// Auto top-ups as jobs: every minute, one job for each tenant with a wallet below its threshold. Whatever lowers a
// balance is found that way: reservations, invoices, expiry and reverted grants.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import type { EngineDeps } from '../../invoices/tax/answers/query-engine.ts'
import type { ExpiryJobDeps } from '../expiry/jobs.ts'
import { topUpWallets } from './top-up.ts'

export type TopUpJobDeps = ExpiryJobDeps & EngineDeps

export const topUpOf = defineJob<TopUpJobDeps, TenantPayload>({
  name: 'top-up-wallets',
  class: 'short',
  rights: {},
  run: ({ database, taxEngine }, payload) => topUpWallets({ database, taxEngine }, tenantOf(payload)),
})

/**
 * The tenants with a wallet that is to be topped up now, in the time of its customer; whether a top-up is in flight is seen by its own job.
 */
export const findLowWallets = (system: Database): Promise<TenantPayload[]> =>
  asSystem(system, 'find-low-wallets', async tx => {
    const now = formatInstant(system.clock.now())
    const { rows } = await tx.execute<TenantPayload>(sql`
      select distinct c.platform_id, c.environment from auto_top_up_configs c
      join wallets w on w.platform_id = c.platform_id and w.environment = c.environment and w.id = c.wallet_id
      left join test_clock_customers m on c.environment = 'TEST' and m.platform_id = w.platform_id
        and m.environment = w.environment and m.customer_id = w.customer_id
      left join test_clocks t on t.platform_id = m.platform_id and t.environment = m.environment and t.id = m.test_clock_id
      cross join lateral (select coalesce(t.frozen_time, ${now}::timestamptz) as at) its
      where c.status = 'ACTIVE' and (c.next_attempt_at is null or c.next_attempt_at <= its.at)
        and c.threshold_quantity > (
          select coalesce(sum(a.open), 0) from wallet_grant_accounts a
          where a.platform_id = c.platform_id and a.environment = c.environment and a.wallet_id = c.wallet_id
            and a.is_open and a.start_at <= its.at and (a.expire_at is null or a.expire_at > its.at))`)
    return rows
  })

const findLow = defineJob<ExpiryJobDeps>({
  name: 'find-low-wallets',
  class: 'short',
  every: '* * * * *',
  rights: {
    auto_top_up_configs: ['select'],
    wallet_grant_accounts: ['select'],
    wallets: ['select'],
    test_clock_customers: ['select'],
    test_clocks: ['select'],
  },
  run: async ({ system }) => {
    const tenants = await findLowWallets(system)
    await asSystem(system, 'find-low-wallets', tx => queueTenants(tx, topUpOf, tenants))
  },
})

export const topUpJobs = [findLow, topUpOf] as const
