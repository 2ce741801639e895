// What the identity host does by itself: new signing keys in time, and nothing kept that nobody can use any more.
import { sql } from 'drizzle-orm'
import { asSystem, type Database } from '../shared/database/database.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { Keystore } from './keys/keystore.ts'
import { removeOldLinks } from './mail/one-time-links.ts'
import { removeOldMails } from './mail/outbox.ts'
import { removeOldChallenges } from './second-factor/passkeys.ts'
import { removeOldPendingSignIns } from './second-factor/pending-sign-in.ts'
import { removeOldAttempts } from './sign-in/attempts.ts'
import { removeUnusedClients } from './store/clients.ts'
import { removeOldRequests } from './store/requests.ts'

const TURN_MS = 10 * 60_000

/** One turn of it. Safe on any number of processes. */
export async function runMaintenance(database: Database, keystore: Keystore): Promise<void> {
  await keystore.rotate()
  await asSystem(database, 'identity', async tx => {
    await removeOldRequests(tx)
    await removeUnusedClients(tx)
    await removeOldPendingSignIns(tx)
    await removeOldChallenges(tx)
    await removeOldAttempts(tx)
    await removeOldLinks(tx)
    await removeOldMails(tx)
    await tx.execute(sql`delete from sessions where expires_at < identity_now() - interval '30 days'`)
  })
}

/** A turn now and then, until stopped. A turn that fails is logged, and the next one tries again. */
export function startMaintenance(deps: { database: Database; keystore: Keystore; logger: Logger }): {
  stop(): Promise<void>
} {
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = runMaintenance(deps.database, deps.keystore).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'upkeep of the identity host failed; trying again later')
    })
  }, TURN_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
