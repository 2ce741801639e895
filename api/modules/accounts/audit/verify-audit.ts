// The audit chains, verified every night: a fault is an error in the log and a metric that is not 0 (security 3).
import type { Database } from '../../../../shared/database/database.ts'
import type { Logger } from '../../../../shared/process/logger.ts'
import { defineJob } from '../../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../../jobs/metrics.ts'
import { verifyChains } from './verify-chains.ts'

/** Logged one by one; more of them say nothing more. */
const SHOWN_MAX = 20

export type AuditJobDeps = {
  readonly system: Database
  readonly metrics: Pick<WorkerMetrics, 'auditFaults'>
  readonly logger: Logger
}

/** Verifies every chain. The heads go to the log, which is kept elsewhere: `npm run audit:verify -- --anchors` takes them. */
export async function verifyAudit(deps: AuditJobDeps): Promise<void> {
  const { records, heads, faults } = await verifyChains(deps.system)
  deps.metrics.auditFaults.set(faults.length)
  for (const fault of faults.slice(0, SHOWN_MAX)) deps.logger.error({ fault }, 'the audit chain does not hold')
  deps.logger.info({ records, faults: faults.length, heads }, 'the audit chains were verified')
}

export const verifyAuditEveryNight = defineJob<AuditJobDeps>({
  name: 'verify-audit',
  class: 'long',
  every: '23 3 * * *',
  rights: { audit_records: ['select'], audit_chains: ['select'] },
  run: verifyAudit,
})
