// Billing as jobs: one job a subscription that is due, so that a subscription that cannot be billed holds up no other.
import { sql } from 'drizzle-orm'
import {
  type Actor,
  asSystem,
  type Database,
  inTenant,
  type SystemTransaction,
} from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Environment, Tenant } from '../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../shared/time.ts'
import { settleCancellation } from '../modules/subscriptions/cancel-subscription.ts'
import { subscriptionResource } from '../modules/subscriptions/subscription.ts'
import type { Subscription } from '../modules/subscriptions/table.ts'
import { lockOne } from '../resource/store.ts'
import type { OutboxRow } from './audit-entry.ts'
import type { WorkerMetrics } from './metrics.ts'

/** Names a subscription across tenants; the payload of a `billing-run` job. */
export type DueSubscription = { platform_id: string; environment: Environment; id: string }

export const BILLING_RUN = 'billing-run'

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

/**
 * Queues a run of each. The key makes it one job a subscription however often it is asked for; a job that is running is
 * followed by another, so that what changed meanwhile is seen.
 */
export async function queueBilling(tx: SystemTransaction, due: readonly DueSubscription[]): Promise<void> {
  if (due.length === 0) return
  await tx.execute(sql`
    select count(graphile_worker.add_job(identifier => ${BILLING_RUN}, payload => to_json(d), job_key => ${`${BILLING_RUN}:`} || d.id))
    from jsonb_to_recordset(${JSON.stringify(due)}::jsonb) as d(platform_id text, environment text, id text)`)
}

/** The subscriptions a batch of changes makes due: those that bill, when they or their schedules changed. */
export function billingOf(rows: readonly OutboxRow[]): DueSubscription[] {
  const due = new Map<string, DueSubscription>()
  for (const { object_type, data, platform_id, environment } of rows) {
    const id = object_type === 'PRICING_PLAN_SUBSCRIPTION' ? data['id'] : scheduledOn(object_type, data)
    const bills = data['status'] === 'ACTIVE' || data['status'] === 'CANCELLED'
    if (bills && typeof id === 'string') due.set(id, { platform_id, environment, id })
  }
  return [...due.values()]
}

const scheduledOn = (objectType: string, data: Record<string, unknown>): unknown =>
  objectType === 'PRICING_PLAN_SCHEDULE' ? data['pricing_plan_subscription_id'] : undefined

export type BillingRunDeps = {
  /** In the role millrace_app: a run acts for one tenant at a time, under its row-level security. */
  readonly database: Database
  readonly runBilling: (tenant: Tenant, subscriptionId: string) => Promise<{ readonly nextBillingAt: Instant | null }>
  readonly metrics: Pick<WorkerMetrics, 'billingRuns'>
  readonly logger: Logger
}

/** Runs one subscription's billing. True when it is due again already, because one run has a bound. */
export async function billSubscription(deps: BillingRunDeps, due: DueSubscription): Promise<boolean> {
  const tenant: Tenant = { platformId: due.platform_id, environment: due.environment }
  const subscription = await settle(deps.database, tenant, due.id)
  // Deleted since it was queued, or a draft whose schedule was activated: neither is billed.
  if (!subscription || subscription.status === 'DRAFT') return false
  try {
    const { nextBillingAt } = await deps.runBilling(tenant, due.id)
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
