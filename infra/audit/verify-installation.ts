// Finds the database of an installation and verifies its audit chains.
import { join } from 'node:path'
import { type TenantHead, type Verification, verifyChains } from '../../api/modules/accounts/audit/verify-chains.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/logger.ts'
import { systemClock } from '../../shared/time.ts'
import { embeddedDatabaseUrl } from '../services/postgres.ts'
import { loginsIn } from '../start/services.ts'
import { readSettings } from '../start/settings.ts'

const ROLE = 'millrace_worker'

function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  const settings = readSettings(env)
  const url =
    settings.external.databaseUrl ?? embeddedDatabaseUrl(join(settings.dataDir, 'postgres'), settings.port('postgres'))
  // With the owner's address, as npm start has it, the login is the one kept in the data folder.
  if (url !== null) return new URL(url).username === ROLE ? url : loginsIn(settings.dataDir, url)[ROLE]
  throw new Error(`DATABASE_URL is not set, and no installation of npm start is in ${settings.dataDir}`)
}

/** Verifies every chain of the installation that `env` describes, as the worker's role: it can read them and nothing more. */
export async function verifyInstallation(
  env: NodeJS.ProcessEnv,
  anchors: readonly TenantHead[],
): Promise<Verification> {
  const url = databaseUrlOf(env)
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
