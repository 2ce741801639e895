// A data folder into which a restore began and did not finish holds some stores and not others.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** In DATA_DIR from the first to the last step of a restore. */
export const UNFINISHED = 'restore-unfinished'

/** Throws when a restore into `dataDir` did not finish. */
export function refuseUnfinished(dataDir: string): void {
  if (existsSync(join(dataDir, UNFINISHED)))
    throw new Error(`A restore into ${dataDir} did not finish. Remove that folder and run npm run restore again.`)
}
