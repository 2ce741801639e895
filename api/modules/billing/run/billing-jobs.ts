// Billing as jobs: one job a subscription that is due, so that a subscription that cannot be billed holds up no other.
import { sql } from 'drizzle-orm'
import {
  type Actor,
  asSystem,
  type Database,
  inTenant,
  type SystemTransaction,
} from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Logger } from '../../../../shared/logger.ts'
import type { Environment, Tenant } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../jobs/metrics.ts'
import { lockOne } from '../../../resource/store.ts'
import type { OutboxRow } from '../../../workers/outbox-row.ts'
import { on } from '../../../workers/reaction.ts'
import { settleCancellation } from '../../subscriptions/cancel-subscription.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import type { BillingDeps } from './compute-invoice.ts'
import { runBilling } from './run-billing.ts'

/** Names a subscription across tenants; the payload of a `billing-run` job. */
export type DueSubscription = { platform_id: string; environment: Environment; id: string }

/** Found by one look; what is left is still due at the next. */
const DUE_MAX = 10_000
const ACTOR: Actor = { id: null, requestId: null }

/** The subscriptions whose invoices, or whose cancellation, wait for a run. */
export async function findDueBilling(database: Database): Promise<DueSubscription[]> {
  const now = formatInstant(database.clock.now())
  const found = await asSystem(database, 'find-due-billing', tx =>
    tx.execute<DueSubscription>(sql`
      select platform_id, environment, id from pricing_plan_subscriptions
      where next_billing_at <= ${now}::timestamptz or (status = 'ACTIVE' and cancelled_at <= ${now}::timestamptz)
      order by coalesce(next_billing_at, cancelled_at) limit ${DUE_MAX}`),
  )
  return found.rows
}

/** The subscriptions a batch of changes makes due: those that bill, when they or their schedules changed. */
function billingOf(rows: readonly OutboxRow[]): DueSubscription[] {
  const due = new Map<string, DueSubscription>()
  for (const { object_type, data, platform_id, environment } of rows) {
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
  readonly metrics: Pick<WorkerMetrics, 'billingRuns'>
  readonly logger: Logger
}

type Run = (
  deps: BillingDeps,
  tenant: Tenant,
  subscriptionId: string,
) => Promise<{ readonly nextBillingAt: Instant | null }>

/** Runs one subscription's billing. True when it is due again already, because one run has a bound. */
async function billSubscription(deps: BillingJobDeps, due: DueSubscription, run: Run): Promise<boolean> {
  const tenant: Tenant = { platformId: due.platform_id, environment: due.environment }
  const subscription = await settle(deps.database, tenant, due.id)
  // Deleted since it was queued, a draft whose schedule was activated, or a TEMPLATE: none is billed.
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

/** A cancellation whose time has come takes effect before the run, which bills up to it. */
const settle = (database: Database, tenant: Tenant, id: string): Promise<Subscription | null> =>
  inTenant(database, tenant, ACTOR, async uow => {
    const row = await lockOne(uow, subscriptionResource, id)
    return row ? await settleCancellation(uow, row as Subscription) : null
  })

const BILLING_RUN = { name: 'billing-run' }

/** Queues a run of each. */
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

/** The jobs of billing; `run` is what they do with one subscription that is due. */
export const billingJobs = (run: Run = runBilling) =>
  [
    defineJob<BillingJobDeps>({
      name: 'find-due-billing',
      class: 'short',
      // Each subscription has its own next_billing_at; the minute is how late a run may start. A change is queued at once besides.
      every: '* * * * *',
      rights: { pricing_plan_subscriptions: ['select'] },
      run: async ({ system }) => {
        const due = await findDueBilling(system)
        await asSystem(system, 'find-due-billing', tx => queueBilling(tx, due))
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
