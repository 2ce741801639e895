// Which grants are over. Their access tokens still verify for minutes, and are refused within seconds all the same.
import { sql } from 'drizzle-orm'
import { createRefresher } from '../../shared/access/refresher.ts'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { listen } from '../../shared/database/listen.ts'
import type { Logger } from '../../shared/process/logger.ts'

export type LiveGrants = {
  /** Loads now: await it at the start. */
  load(): Promise<void>
  isRevoked(grantId: string): boolean
  close(): Promise<void>
}

const POLL_MS = 4_000
const GAP_MS = 100
/** Longer than an access token lives; what ended before that has no token left. */
const REMEMBERED = '15 minutes'

/** Follows revocations, by notification and by poll. The database's role is the one that reads keys. */
export function createLiveGrants({ database, logger }: { database: Database; logger: Logger }): LiveGrants {
  let revoked: ReadonlySet<string> = new Set()
  const load = async (): Promise<void> => {
    const { rows } = await asSystem(database, 'load-grants', tx =>
      tx.execute<{ id: string }>(
        sql`select id from oauth_grants where revoked_at > clock_timestamp() - ${REMEMBERED}::interval`,
      ),
    )
    revoked = new Set(rows.map(row => row.id))
  }
  const refresher = createRefresher({ name: 'the revoked grants', load, pollMs: POLL_MS, gapMs: GAP_MS, logger })
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (table === 'oauth_grants') refresher.poke()
    },
    onConnect: refresher.poke,
    logger,
  })
  return {
    load: refresher.refresh,
    isRevoked: grantId => revoked.has(grantId),
    close: async () => {
      await listener.close()
      await refresher.close()
    },
  }
}
