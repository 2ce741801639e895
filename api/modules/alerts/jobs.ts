// Evaluations of alert rules as jobs: one job a tenant that has ACTIVE rules, every minute. They give way to billing runs, since
// they read usage. A job that failed, or died with its worker, is made again by the next minute.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../../../shared/database/database.ts'
import type { Logger } from '../../../shared/process/logger.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../shared/time.ts'
import { defineJob } from '../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../jobs/metrics.ts'
import { queueTenants, type TenantPayload, tenantOf, type WaitingTenant } from '../../jobs/tenant-jobs.ts'
import type { EvaluationDeps } from './evaluate/alert-use.ts'
import { evaluateAlerts } from './evaluate/evaluate-alerts.ts'

export type AlertJobDeps = EvaluationDeps & {
  /** In the role millrace_worker. */
  readonly system: Database
  readonly metrics: Pick<WorkerMetrics, 'alerts' | 'alertEvaluations' | 'alertsSeenUntil'>
  readonly logger: Logger
}

/** The tenants with ACTIVE rules, and until when all of them have been evaluated to the end. */
export async function findAlertRules(
  database: Database,
): Promise<{ readonly tenants: WaitingTenant[]; readonly seenUntil: Instant }> {
  const { rows } = await asSystem(database, 'find-alert-rules', tx =>
    tx.execute<{ platform_id: string; environment: 'TEST' | 'LIVE'; seen_ms: string }>(sql`
      select r.platform_id, r.environment,
        (extract(epoch from greatest(l.seen_until, min(r.updated_at))) * 1000)::bigint::text as seen_ms
      from alert_rules r
      left join alert_evaluations l on l.platform_id = r.platform_id and l.environment = r.environment
      where r.status = 'ACTIVE'
      group by r.platform_id, r.environment, l.seen_until`),
  )
  const tenants = rows.map(({ platform_id, environment }) => ({ platform_id, environment }))
  const times = rows.map(({ seen_ms }) => Number(seen_ms))
  return { tenants, seenUntil: instantOf(Math.min(database.clock.now(), ...times)) }
}

async function evaluate(deps: AlertJobDeps, tenant: Tenant): Promise<void> {
  const { metrics, logger } = deps
  try {
    const { complete, ...made } = await evaluateAlerts(deps, tenant)
    for (const type of ['INVOICE', 'ENTITLEMENT'] as const) metrics.alerts.inc({ type }, made[type])
    metrics.alertEvaluations.inc({ outcome: complete ? 'complete' : 'partial' })
  } catch (error) {
    metrics.alertEvaluations.inc({ outcome: 'failed' })
    logger.warn({ err: error, ...tenant }, 'an evaluation of alerts failed; it is tried again')
    throw error
  }
}

const evaluateAlertsOf = defineJob<AlertJobDeps, TenantPayload>({
  name: 'evaluate-alerts',
  class: 'short',
  priority: 10,
  rights: {},
  run: (deps, payload) => evaluate(deps, tenantOf(payload)),
})

const findRules = defineJob<AlertJobDeps>({
  name: 'find-alert-rules',
  class: 'short',
  every: '* * * * *',
  rights: { alert_rules: ['select'], alert_evaluations: ['select'] },
  run: async ({ system, metrics }) => {
    const { tenants, seenUntil } = await findAlertRules(system)
    metrics.alertsSeenUntil.set(seenUntil / 1_000)
    await asSystem(system, 'find-alert-rules', tx => queueTenants(tx, evaluateAlertsOf, tenants))
  },
})

export const alertJobs = [findRules, evaluateAlertsOf] as const
