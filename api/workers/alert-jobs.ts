// Looks for alerts as jobs: one job a tenant that has ACTIVE rules, every minute. They have a runner of their own, because a look
// reads usage and a billing run must not wait for it. A job that failed, or died with its worker, is made again by the next minute.
import { sql } from 'drizzle-orm'
import type { TaskList } from 'graphile-worker'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import type { AlertsMade } from '../modules/alerts/evaluate/look-for-alerts.ts'
import { type Jobs, startRunner } from './jobs.ts'
import type { WorkerMetrics } from './metrics.ts'
import { queueTenants, type WaitingTenant } from './tenant-jobs.ts'

export type AlertJobDeps = {
  /** In the role millrace_worker. */
  readonly database: Database
  readonly lookForAlerts: (tenant: Tenant) => Promise<AlertsMade>
  readonly metrics: Pick<WorkerMetrics, 'alerts' | 'alertLooks' | 'alertsSeenUntil'>
  readonly logger: Logger
}

const FIND_ALERT_RULES = 'find-alert-rules'
const LOOK_FOR_ALERTS = 'look-for-alerts'
const CRONTAB = `
* * * * * ${FIND_ALERT_RULES} ?jobKey=${FIND_ALERT_RULES}&max=3
`
/** Tenants at a time in one worker. */
const CONCURRENCY = 2

/** The tenants with ACTIVE rules, and until when all of them have been looked at to the end. */
export async function findAlertRules(
  database: Database,
): Promise<{ readonly tenants: WaitingTenant[]; readonly seenUntil: Instant }> {
  const { rows } = await asSystem(database, 'find-alert-rules', tx =>
    tx.execute<{ platform_id: string; environment: 'TEST' | 'LIVE'; seen_ms: string }>(sql`
      select r.platform_id, r.environment,
        (extract(epoch from greatest(l.seen_until, min(r.updated_at))) * 1000)::bigint::text as seen_ms
      from alert_rules r
      left join alert_looks l on l.platform_id = r.platform_id and l.environment = r.environment
      where r.status = 'ACTIVE'
      group by r.platform_id, r.environment, l.seen_until`),
  )
  const tenants = rows.map(({ platform_id, environment }) => ({ platform_id, environment }))
  const times = rows.map(({ seen_ms }) => Number(seen_ms))
  return { tenants, seenUntil: instantOf(Math.min(database.clock.now(), ...times)) }
}

const queueLooks = (tx: SystemTransaction, tenants: readonly WaitingTenant[]): Promise<void> =>
  queueTenants(tx, LOOK_FOR_ALERTS, tenants)

async function look(deps: AlertJobDeps, tenant: Tenant): Promise<void> {
  const { metrics, logger } = deps
  try {
    const { complete, ...made } = await deps.lookForAlerts(tenant)
    for (const type of ['INVOICE', 'ENTITLEMENT'] as const) metrics.alerts.inc({ type }, made[type])
    metrics.alertLooks.inc({ outcome: complete ? 'complete' : 'partial' })
  } catch (error) {
    metrics.alertLooks.inc({ outcome: 'failed' })
    logger.warn({ err: error, ...tenant }, 'a look for alerts failed; it is tried again')
    throw error
  }
}

export const alertTasksOf = (deps: AlertJobDeps): TaskList => ({
  [FIND_ALERT_RULES]: async () => {
    const { tenants, seenUntil } = await findAlertRules(deps.database)
    deps.metrics.alertsSeenUntil.set(seenUntil / 1_000)
    await asSystem(deps.database, 'find-alert-rules', tx => queueLooks(tx, tenants))
  },
  [LOOK_FOR_ALERTS]: async payload => {
    // Only queueLooks makes these jobs.
    const { platform_id: platformId, environment } = payload as WaitingTenant
    await look(deps, { platformId, environment })
  },
})

/** Works on the looks from the queue in the database at `databaseUrl`. */
export const startAlertJobs = (databaseUrl: string, deps: AlertJobDeps): Promise<Jobs> =>
  startRunner(databaseUrl, {
    crontab: CRONTAB,
    taskList: alertTasksOf(deps),
    concurrency: CONCURRENCY,
    logger: deps.logger,
  })
