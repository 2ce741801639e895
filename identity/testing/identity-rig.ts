// The identity host in a test: real PostgreSQL, requests through app.inject or a real port, a clock the test moves.
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { createPlatform, createUser, type NewPlatform } from '../../shared/access/create-platform.ts'
import { type Database, databaseFault } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase } from '../../shared/testing/postgres.ts'
import { systemClock } from '../../shared/time.ts'
import { buildIdentity } from '../app.ts'
import { createKeystore, type Keystore } from '../keys/keystore.ts'

export const TEST_IDENTITY_URL = 'http://127.0.0.1:18999'
export const TEST_BASE_URL = 'http://127.0.0.1:18998'

export type IdentityRig = {
  readonly app: FastifyInstance
  /** Builds the same host once more, but for what is different; whoever asks closes it. */
  anotherHost(change: Partial<Parameters<typeof buildIdentity>[0]>): Promise<FastifyInstance>
  readonly database: Database
  readonly keystore: Keystore
  readonly databaseUrl: string
  readonly platforms: readonly [NewPlatform, NewPlatform]
  /** Administers the first platform in both environments. */
  readonly user: { readonly email: string; readonly password: string }
  /** Runs SQL as the owner. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Moves the clock by which everything expires. */
  advance(seconds: number): Promise<void>
  /** Stops that clock, so that no machine is too slow for a test; from here on only `advance` moves it. */
  stopClock(): Promise<void>
  close(): Promise<void>
}

/** Starts the identity host on a database of its own. */
export async function startIdentity(more: Partial<Parameters<typeof buildIdentity>[0]> = {}): Promise<IdentityRig> {
  const testDatabase = await createTestDatabase()
  const { url } = testDatabase
  const role = 'millrace_identity'
  const database = await openTestDatabase({ url, role, clock: systemClock, logger: silentLogger, poolMax: 10 })
  const ready = () => databaseFault(database)
  const addresses = { identityUrl: TEST_IDENTITY_URL, baseUrl: TEST_BASE_URL }
  const secret = 'a secret of the tests, long enough for them'
  const keystore = createKeystore(database, secret)
  await keystore.rotate()
  const own = {
    keystore,
    secret,
    redirectSchemes: [],
    clientDocuments: null,
    trustedProxies: [],
    onTokenReuse: () => undefined,
  }
  const host: IdentityRig['anotherHost'] = change =>
    buildIdentity({ database, logger: silentLogger, ...addresses, ...own, ready, ...more, ...change })
  const app = await host({})
  await app.ready()
  const platforms = [await createPlatform(url, 'Platform A'), await createPlatform(url, 'Platform B')] as const
  const user = await createUser(url, 'ada@example.com', [platforms[0].id])
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  let ahead = 0
  let reading = 'clock_timestamp()'
  const setClock = async (): Promise<void> => {
    await owner.query(
      `create or replace function identity_now() returns timestamptz language sql volatile
       as $$ select ${reading} + make_interval(secs => ${ahead}) $$`,
    )
  }
  return {
    app,
    anotherHost: host,
    database,
    keystore,
    databaseUrl: url,
    platforms,
    user,
    sql: async (text, values) => (await owner.query(text, values)).rows,
    advance: seconds => {
      ahead += seconds
      return setClock()
    },
    stopClock: () => {
      reading = `to_timestamp(${Date.now() / 1_000})`
      return setClock()
    },
    close: async () => {
      await app.close()
      await database.close()
      await owner.end()
      await testDatabase.drop()
    },
  }
}
