// The reference rates of platforms that give an address, as jobs: a search every five minutes, and one job for each platform that is due.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../shared/database/database.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../jobs/metrics.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { type FeedDeps, fetchRates } from './fetch-rates.ts'

export type FeedJobDeps = FeedDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly metrics: Pick<WorkerMetrics, 'exchangeRateFaults'>
  readonly logger: Logger
}

const fetchRatesOf = defineJob<FeedJobDeps, TenantPayload>({
  name: 'fetch-exchange-rates',
  class: 'external',
  rights: {},
  run: async (deps, payload, { stop }) => {
    const status = await fetchRates(deps, tenantOf(payload), stop)
    if (status?.fault) deps.logger.warn({ ...payload, fault: status.fault }, 'exchange rates are not up to date')
  },
})

type Feed = TenantPayload & {
  readonly due: boolean
  /** Whether its last fetch found a fault. */
  readonly faulty: boolean
}

/** The platforms that give an address. */
export async function loadFeeds(tx: SystemTransaction, now: Instant): Promise<Feed[]> {
  const { rows } = await tx.execute<Feed>(sql`
    select platform_id, environment,
      coalesce((exchange_rate_status ->> 'next_attempt_at')::timestamptz <= ${formatInstant(now)}::timestamptz, true) as due,
      exchange_rate_status ->> 'fault' is not null as faulty
    from platforms where exchange_rate_settings ->> 'url' is not null`)
  return rows
}

const findDueFeeds = defineJob<FeedJobDeps>({
  name: 'find-due-exchange-rates',
  class: 'short',
  every: '*/5 * * * *',
  rights: { platforms: ['select'] },
  run: async ({ system, metrics }) => {
    await asSystem(system, 'find-due-exchange-rates', async tx => {
      const feeds = await loadFeeds(tx, system.clock.now())
      metrics.exchangeRateFaults.set(feeds.filter(({ faulty }) => faulty).length)
      const due = feeds.filter(feed => feed.due)
      await queueTenants(
        tx,
        fetchRatesOf,
        due.map(({ platform_id, environment }) => ({ platform_id, environment })),
      )
    })
  },
})

export const feedJobs = [findDueFeeds, fetchRatesOf] as const
