// OPEN and DRAFT invoices follow usage: the marks of the log tell whose usage was touched, and the subscriptions that its events may belong
// to become due for billing. Nothing is read while no usage arrives.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../../shared/database/database.ts'
import { formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { defineJob } from '../../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { type FollowDeps, followUsage } from '../state/followed-usage.ts'
import { billingBacklog } from './billing-backlog.ts'
import { queueGroups } from './group-jobs.ts'

/** An invoice is at most a minute behind its usage: so long after one check for usage comes the next, less what computing invoices takes. */
const CHECK_MS = 50_000
const CHECK_MS_LEAST = 5_000
/** What an invoice takes on two cores while events come in for all of them. */
const INVOICE_MS = 7

/** When to check again while so many subscriptions are due. */
export const nextCheckMs = (due: number): number => Math.max(CHECK_MS_LEAST, CHECK_MS - due * INVOICE_MS)

type JobDeps = FollowDeps & { /** In the role millrace_worker. */ readonly system: Database }

const FOLLOW_TENANT = { name: 'follow-usage-of-tenant' }

/** Queues the next check of a tenant, where any subscription may have invoices then. */
async function queueNext(tx: SystemTransaction, payload: TenantPayload, now: Instant): Promise<void> {
  const isOfTenant = sql`s.platform_id = ${payload.platform_id} and s.environment = ${payload.environment}`
  const { rows } = await tx.execute(
    sql`select from pricing_plan_subscriptions s where ${isOfTenant} and s.next_billing_at is not null limit 1`,
  )
  if (rows.length === 0) return
  const { due } = await billingBacklog(tx, now, isOfTenant)
  await queueTenants(tx, FOLLOW_TENANT, [{ ...payload, ready_at: formatInstant(instantOf(now + nextCheckMs(due))) }])
}

export const followJobs = [
  defineJob<JobDeps>({
    name: 'follow-usage',
    class: 'short',
    // Each check queues the next one; this begins, and repeats at once what failed.
    every: '* * * * *',
    rights: { pricing_plan_subscriptions: ['select'] },
    run: ({ system }) =>
      asSystem(system, 'follow-usage', async tx => {
        const { rows } = await tx.execute<TenantPayload>(sql`
          select distinct platform_id, environment from pricing_plan_subscriptions s where next_billing_at is not null
            and not exists (select from graphile_worker.jobs j where (j.attempts = 0 or j.locked_at is not null)
              and j.key = ${FOLLOW_TENANT.name} || ':' || s.platform_id || ':' || s.environment)`)
        await queueTenants(tx, FOLLOW_TENANT, rows)
      }),
  }),
  defineJob<JobDeps, TenantPayload>({
    ...FOLLOW_TENANT,
    class: 'short',
    rights: { pricing_plan_subscriptions: ['select'], test_clock_customers: ['select'] },
    run: async (deps, payload) => {
      const woken = await followUsage(deps, tenantOf(payload))
      await asSystem(deps.system, 'follow-usage', async tx => {
        if (woken > 0)
          await queueGroups(
            tx,
            Array.from({ length: woken }, () => payload),
          )
        await queueNext(tx, payload, deps.system.clock.now())
      })
    },
  }),
] as const
