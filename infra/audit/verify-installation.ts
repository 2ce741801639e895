// Finds the database of an installation and verifies its audit chains.
import { type TenantHead, type Verification, verifyChains } from '../../api/modules/accounts/audit/verify-chains.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { systemClock } from '../../shared/time.ts'
import { roleUrlOf } from '../start/role-url.ts'

const ROLE = 'millrace_worker'

/** Verifies every chain of the installation that `env` describes, as the worker's role: it can read them and nothing more. */
export async function verifyInstallation(
  env: NodeJS.ProcessEnv,
  anchors: readonly TenantHead[],
): Promise<Verification> {
  const url = roleUrlOf(env, ROLE)
  const database = await openDatabase({
    url,
    role: ROLE,
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    return await verifyChains(database, anchors)
  } finally {
    await database.close()
  }
}
