// Makes a platform with its two environments and their first API keys; used by the start-up and by tests.
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { type Database, inTenant, openAsOwner, SERVICE } from '../database/database.ts'
import { base62, newId, newUserId } from '../ids.ts'
import { silentLogger } from '../process/logger.ts'
import { ENVIRONMENTS, type Environment } from '../tenant.ts'
import { systemClock } from '../time.ts'
import { newApiKey } from './api-key.ts'
import { hashPassword } from './password.ts'

/** A platform and the plain text of its first keys, which is nowhere else. */
export type NewPlatform = {
  readonly id: string
  readonly name: string
  readonly environments: Readonly<Record<Environment, { readonly api_key: string }>>
}

/** Creates a platform called `name` with one ADMINISTRATOR key in TEST and one in LIVE, as the owner of the database. */
export async function createPlatform(databaseUrl: string, name: string): Promise<NewPlatform> {
  const database = openAsOwner({
    url: databaseUrl,
    role: 'millrace_app',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    return await insertPlatform(database, name)
  } finally {
    await database.close()
  }
}

/** The same on a connection that is open. */
export async function insertPlatform(database: Database, name: string): Promise<NewPlatform> {
  const platformId = newId('plat')
  const keys: Partial<Record<Environment, { api_key: string }>> = {}
  for (const environment of ENVIRONMENTS) {
    const key = newApiKey(environment)
    await inTenant(database, { platformId, environment }, SERVICE, async ({ tx }) => {
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
}

/** Creates a user with a random password, returned once, who administers both environments of these platforms. */
export async function createUser(
  databaseUrl: string,
  email: string,
  platformIds: readonly string[],
): Promise<{ email: string; password: string }> {
  const password = base62(randomBytes(18))
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(
      `insert into users (id, username, password_hash, password_suffices_alone) values ($1, $2, $3, true)
       on conflict (username) do update set password_hash = excluded.password_hash, password_suffices_alone = true, status = 'ACTIVE', updated_at = now()
       returning id`,
      [newUserId(), email, await hashPassword(password)],
    )
    await insertMemberships(client, rows[0]?.id ?? '', platformIds)
  } finally {
    await client.end()
  }
  return { email, password }
}

/** Makes a known user an administrator of both environments of these platforms, where they are no member yet. */
export async function makeAdministrator(
  databaseUrl: string,
  email: string,
  platformIds: readonly string[],
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>('select id from users where username = $1', [email])
    if (rows[0]) await insertMemberships(client, rows[0].id, platformIds)
  } finally {
    await client.end()
  }
}

async function insertMemberships(client: pg.Client, userId: string, platformIds: readonly string[]): Promise<void> {
  for (const platformId of platformIds) {
    for (const environment of ENVIRONMENTS) {
      await client.query(
        `insert into user_memberships (platform_id, environment, id, user_id, role_ids)
         values ($1, $2, $3, $4, '{role_administrator}') on conflict (platform_id, environment, user_id) do nothing`,
        [platformId, environment, newId('memb'), userId],
      )
    }
  }
}
