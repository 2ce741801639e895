// The search for overdue invoices, as jobs: every few minutes, one job for each tenant with an open invoice past its
// due date. The next search repeats a job that failed or died with its worker.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { announceOverdue, type OverdueDeps, usesTestClock } from './announce-overdue.ts'
import { IS_OPEN } from './unpaid-invoices.ts'

export type OverdueJobDeps = OverdueDeps & { /** In the role millrace_worker. */ readonly system: Database }

/**
 * The tenants with an invoice that may have become overdue; the zone of the invoice decides. Invoices of a test clock
 * wait until the clock is advanced.
 */
export const findOverdue = (system: Database): Promise<TenantPayload[]> =>
  asSystem(system, 'find-overdue-invoices', async tx => {
    const { rows } = await tx.execute<TenantPayload>(sql`
      select distinct v.platform_id, v.environment from invoices v
      where ${IS_OPEN} and v.overdue_at is null and v.due_date < ${formatInstant(system.clock.now())}::timestamptz
        and ${usesTestClock(null)}`)
    return rows
  })

const announceOverdueOf = defineJob<OverdueJobDeps, TenantPayload>({
  name: 'announce-overdue-invoices',
  class: 'short',
  priority: 10,
  rights: {},
  run: async (deps, payload) => {
    await announceOverdue(deps, tenantOf(payload), null)
  },
})

const findOverdueJob = defineJob<OverdueJobDeps>({
  name: 'find-overdue-invoices',
  class: 'short',
  every: '*/5 * * * *',
  rights: { invoices: ['select'], test_clock_customers: ['select'] },
  run: async ({ system }) => {
    const tenants = await findOverdue(system)
    await asSystem(system, 'find-overdue-invoices', tx => queueTenants(tx, announceOverdueOf, tenants))
  },
})

export const overdueJobs = [findOverdueJob, announceOverdueOf] as const
