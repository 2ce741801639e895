// The audit chains, verified every night: a fault is an error in the log and a metric that is not 0 (security 3).
import type { Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import { verifyChains } from '../modules/audit/verify-chains.ts'
import type { WorkerMetrics } from './metrics.ts'

/** Logged one by one; more of them say nothing more. */
const SHOWN_MAX = 20

/** Verifies every chain. The heads go to the log, which is kept elsewhere: `npm run audit:verify -- --anchors` takes them. */
export async function verifyAudit(deps: {
  readonly database: Database
  readonly metrics: Pick<WorkerMetrics, 'auditFaults'>
  readonly logger: Logger
}): Promise<void> {
  const { records, heads, faults } = await verifyChains(deps.database)
  deps.metrics.auditFaults.set(faults.length)
  for (const fault of faults.slice(0, SHOWN_MAX)) deps.logger.error({ fault }, 'the audit chain does not hold')
  deps.logger.info({ records, faults: faults.length, heads }, 'the audit chains were verified')
}
