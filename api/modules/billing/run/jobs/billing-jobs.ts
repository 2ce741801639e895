// Billing as jobs. Due subscriptions are claimed and billed in groups (group-jobs.ts). A subscription that changed, or
// that cannot be billed with others, has a job of its own, so that it delays no other.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Logger } from '../../../../../shared/process/logger.ts'
import type { Environment, Tenant } from '../../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../../jobs/metrics.ts'
import { payloadOf, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { inTimeOf } from '../../../../test-clock/test-clock.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import { on } from '../../../../workers/reaction.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runGroup } from '../group/run-group.ts'
import { runBilling } from '../run-billing.ts'
import { billingBacklog, isDue } from './billing-backlog.ts'
import {
  BILLING_GROUP,
  billGroup,
  type GroupPayload,
  type GroupRun,
  queueGroup,
  queueGroups,
  settleCancelled,
} from './group-jobs.ts'

/** Names a subscription across tenants; the payload of a `billing-run` job. */
export type DueSubscription = { platform_id: string; environment: Environment; id: string }
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

/** Whether it is a cancellation that took effect: the run that is about to bill up to it does that. */
const isSettled = ({ type, data, previous_data: previous }: OutboxRow): boolean =>
  type === 'PRICING_PLAN_SUBSCRIPTION.UPDATED' &&
  data.status === 'CANCELLED' &&
  previous?.status === 'ACTIVE' &&
  isDeepStrictEqual(data.inactive_periods, previous.inactive_periods)

/** The subscriptions that a batch of changes makes due: those that are billed, when they or their schedules changed. */
function billingOf(rows: readonly OutboxRow[]): DueSubscription[] {
  const due = new Map<string, DueSubscription>()
  for (const row of rows) {
    if (isSettled(row)) continue
    const { object_type, data, platform_id, environment } = row
    const id = object_type === 'PRICING_PLAN_SUBSCRIPTION' ? data.id : scheduledOn(object_type, data)
    const bills = data.status === 'ACTIVE' || data.status === 'CANCELLED'
    if (bills && typeof id === 'string') due.set(id, { platform_id, environment, id })
  }
  return [...due.values()]
}

const scheduledOn = (objectType: string, data: Record<string, unknown>): unknown =>
  objectType === 'PRICING_PLAN_SCHEDULE' ? data.pricing_plan_subscription_id : undefined

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

const BILLING_RUN = { name: 'billing-run' }

/** Queues a run for each. */
export const queueBilling = (tx: SystemTransaction, due: readonly DueSubscription[]): Promise<void> =>
  queueJobs(
    tx,
    BILLING_RUN,
    due.map(payload => ({ key: payload.id, payload })),
  )

export const billingReactions = [
  on(
    [
      'PRICING_PLAN_SUBSCRIPTION.CREATED',
      'PRICING_PLAN_SUBSCRIPTION.UPDATED',
      'PRICING_PLAN_SCHEDULE.CREATED',
      'PRICING_PLAN_SCHEDULE.UPDATED',
    ],
    (tx, rows) => queueBilling(tx, billingOf(rows)),
  ),
]

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
            due.filter(({ alone }) => alone).map(({ alone: _, ...own }) => own),
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
  ] as const
