// Billing as jobs. Due subscriptions are claimed and billed in groups (group-jobs.ts). One that changed (changed-jobs.ts), or that cannot
// be billed with others, has a job of its own, so that it delays no other.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../../shared/time.ts'
import { defineJob } from '../../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../../jobs/metrics.ts'
import { payloadOf, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { inTimeOf } from '../../../../test-clock/test-clock.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runGroup } from '../group/run-group.ts'
import { runBilling } from '../run-billing.ts'
import { billingBacklog, isDue } from './billing-backlog.ts'
import { changedJob } from './changed-jobs.ts'
import {
  BILLING_GROUP,
  billGroup,
  type GroupPayload,
  type GroupRun,
  queueGroup,
  queueGroups,
  settleCancelled,
} from './group-jobs.ts'
import { BILLING_RUN, type DueSubscription, queueBilling } from './queue-billing.ts'

/** `alone`: no group claims it, so it is billed by itself. */
type Due = DueSubscription & { readonly alone: boolean }

/** The most subscriptions that one search returns; the rest is still due at the next. */
const DUE_MAX = 10_000

/** Sets the gauges of what is due. */
async function measureBacklog(system: Database, metrics: BillingJobDeps['metrics']): Promise<void> {
  const now = system.clock.now()
  const { due, failing, oldestDueAt } = await asSystem(system, 'find-due-billing', tx => billingBacklog(tx, now))
  metrics.billingDue.set(due)
  metrics.billingFailing.set(failing)
  metrics.billingLag.set(oldestDueAt === null ? 0 : (now - oldestDueAt) / 1_000)
}

/** The unclaimed subscriptions whose invoices or whose cancellation are due. */
export async function findDueBilling(database: Database): Promise<Due[]> {
  const now = formatInstant(database.clock.now())
  const found = await asSystem(database, 'find-due-billing', tx =>
    tx.execute<Due>(sql`
      select platform_id, environment, id,
        billing_claimed_until is not null or next_billing_at is null or next_billing_at > ${now}::timestamptz as alone
      from pricing_plan_subscriptions s
      where (billing_claimed_until is null or billing_claimed_until <= ${now}::timestamptz)
        and ${isDue(database.clock.now())}
      order by coalesce(next_billing_at, cancelled_at) limit ${DUE_MAX}`),
  )
  return found.rows
}

export type BillingJobDeps = BillingDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly metrics: Pick<WorkerMetrics, 'billingRuns' | 'billingDue' | 'billingFailing' | 'billingLag'>
  readonly logger: Logger
}

type Run = (
  deps: BillingDeps,
  tenant: Tenant,
  subscriptionId: string,
) => Promise<{ readonly nextBillingAt: Instant | null }>

/**
 * Runs the billing of one subscription. True when it is due again at once, because one run processes a limited number
 * of invoices.
 */
const billSubscription = (deps: BillingJobDeps, due: DueSubscription, run: Run): Promise<boolean> => {
  const tenant: Tenant = { platformId: due.platform_id, environment: due.environment }
  return inTimeOf(deps.database, tenant, [due.id], () => billNow(deps, { tenant, due }, run))
}

async function billNow(
  deps: BillingJobDeps,
  { tenant, due }: { readonly tenant: Tenant; readonly due: DueSubscription },
  run: Run,
): Promise<boolean> {
  const subscription = await settleCancelled(deps.database, tenant, due.id)
  // Not billed: deleted since it was queued, a DRAFT whose schedule was activated, or a TEMPLATE.
  if (!subscription || subscription.status === 'DRAFT' || subscription.type !== 'BILLING') return false
  try {
    const { nextBillingAt } = await run(deps, tenant, due.id)
    deps.metrics.billingRuns.inc({ outcome: 'done' })
    return nextBillingAt !== null && nextBillingAt <= deps.database.clock.now()
  } catch (error) {
    deps.metrics.billingRuns.inc({ outcome: 'failed' })
    const code = error instanceof AppError ? error.code : 'bug'
    deps.logger.warn({ err: error, subscriptionId: due.id, code }, 'a billing run failed; it is tried again')
    throw error
  }
}

/** The jobs of billing; `run` bills one due subscription, `group` many. */
export const billingJobs = (run: Run = runBilling, group: GroupRun = runGroup) =>
  [
    defineJob<BillingJobDeps>({
      name: 'find-due-billing',
      class: 'short',
      // Each subscription has its own next_billing_at; a run starts at most a minute late. A change queues one at once.
      every: '* * * * *',
      rights: { pricing_plan_subscriptions: ['select'], test_clock_customers: ['select'] },
      run: async ({ system, metrics }) => {
        await measureBacklog(system, metrics)
        const due = await findDueBilling(system)
        await asSystem(system, 'find-due-billing', async tx => {
          await queueGroups(
            tx,
            due.filter(({ alone }) => !alone),
          )
          await queueBilling(
            tx,
            due.filter(({ alone }) => alone),
          )
        })
      },
    }),
    defineJob<BillingJobDeps, GroupPayload>({
      ...BILLING_GROUP,
      class: 'group',
      rights: {},
      run: async (deps, payload) => {
        const { again, alone } = await billGroup(deps, tenantOf(payload), group)
        await asSystem(deps.system, 'billing-group', async tx => {
          await queueBilling(
            tx,
            alone.map(id => ({ ...payloadOf(tenantOf(payload)), id })),
          )
          if (again) await queueGroup(tx, payload)
        })
      },
    }),
    defineJob<BillingJobDeps, DueSubscription>({
      ...BILLING_RUN,
      class: 'short',
      rights: {},
      run: async (deps, due) => {
        const again = await billSubscription(deps, due, run)
        if (again) await asSystem(deps.system, 'billing-run', tx => queueBilling(tx, [due]))
      },
    }),
    changedJob,
  ] as const
