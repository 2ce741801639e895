// Two identity hosts over one database, as an installation that needs more than one runs them.

import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { systemClock } from '../../shared/time.ts'
import { type IdentityRig, startIdentity } from './identity-rig.ts'

/** The rig, and the same rig with another host in the place of its own. Closing either closes both. */
export async function startTwoHosts(
  more: Parameters<typeof startIdentity>[0] = {},
): Promise<readonly [IdentityRig, IdentityRig]> {
  const rig = await startIdentity(more)
  const shared = { url: rig.databaseUrl, clock: systemClock, logger: silentLogger }
  const database = await openTestDatabase({ ...shared, role: 'millrace_identity', poolMax: 10 })
  const app = await rig.anotherHost({ database })
  await app.ready()
  const close = async (): Promise<void> => {
    await app.close()
    await database.close()
    await rig.close()
  }
  return [
    { ...rig, close },
    { ...rig, app, database, close },
  ]
}
