// Makes a platform with its two environments and their first API keys; used by the start-up and by tests.
import { randomBytes } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { inTenant, openDatabase } from '../database/database.ts'
import { base62, newId } from '../ids.ts'
import { silentLogger } from '../logger.ts'
import { ENVIRONMENTS, type Environment } from '../tenant.ts'
import { systemClock } from '../time.ts'
import { newApiKey } from './api-key.ts'

/** A platform and the plain text of its first keys, which is nowhere else. */
export type NewPlatform = {
  readonly id: string
  readonly name: string
  readonly environments: Readonly<Record<Environment, { readonly api_key: string }>>
}

/** Creates a platform called `name` with one ADMINISTRATOR key in TEST and one in LIVE. */
export async function createPlatform(databaseUrl: string, name: string): Promise<NewPlatform> {
  const database = await openDatabase({
    url: databaseUrl,
    role: 'millrace_app',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    const platformId = newId('plat')
    const keys: Partial<Record<Environment, { api_key: string }>> = {}
    for (const environment of ENVIRONMENTS) {
      const key = newApiKey(environment)
      await inTenant(database, { platformId, environment }, { id: null, requestId: null }, async ({ tx }) => {
        await tx.execute(
          sql`insert into platforms (platform_id, environment, name) values (${platformId}, ${environment}, ${name})`,
        )
        await tx.execute(sql`
          insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four, description)
          values (${platformId}, ${environment}, ${newId('akey')}, ${key.keyId}, ${key.sha256}, ${key.displayPrefix}, ${key.lastFour}, 'First key')`)
      })
      keys[environment] = { api_key: key.text }
    }
    const { TEST, LIVE } = keys
    if (!TEST || !LIVE) throw new Error('a platform has two environments')
    return { id: platformId, name, environments: { TEST, LIVE } }
  } finally {
    await database.close()
  }
}

// OWASP's second recommendation, measured at 12 ms (security section 3).
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Creates a user with a random password, returned once. Its sign-in belongs to the identity host. */
export async function createUser(databaseUrl: string, email: string): Promise<{ email: string; password: string }> {
  const password = base62(randomBytes(18))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `insert into users (id, username, password_hash) values ($1, $2, $3)
       on conflict (username) do update set password_hash = excluded.password_hash`,
      [newId('user'), email, await hash(password, ARGON2ID)],
    )
  } finally {
    await client.end()
  }
  return { email, password }
}
