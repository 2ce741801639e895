// The database of an installation, with the login of one role: for commands that an operator runs beside it.
import { join } from 'node:path'
import type { DatabaseRole } from '../../shared/database/database.ts'
import { embeddedDatabaseUrl } from '../services/postgres.ts'
import { loginsIn } from './services.ts'
import { readSettings } from './settings.ts'

/**
 * DATABASE_URL where it has that login; with the owner's address, or none, the login that npm start keeps in the data folder.
 * Throws when there is neither an address nor an installation.
 */
export function roleUrlOf(env: NodeJS.ProcessEnv, role: DatabaseRole): string {
  const settings = readSettings(env)
  const url =
    settings.external.databaseUrl ?? embeddedDatabaseUrl(join(settings.dataDir, 'postgres'), settings.port('postgres'))
  if (url !== null) return new URL(url).username === role ? url : loginsIn(settings.dataDir, url)[role]
  throw new Error(`DATABASE_URL is not set, and no installation of npm start is in ${settings.dataDir}`)
}
