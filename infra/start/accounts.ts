// The demo's platforms and user, and credentials.json. Keys and passwords are stored nowhere else in plain text, so this
// file is how a second start finds its first keys again.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { hashApiKey } from '../../shared/access/api-key.ts'
import { createPlatform, createUser, makeAdministrator, type NewPlatform } from '../../shared/access/create-platform.ts'
import { asSystem, openAsOwner } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { systemClock } from '../../shared/time.ts'

export type Accounts = {
  readonly platforms: readonly NewPlatform[]
  readonly user: { readonly email: string; readonly password: string }
}
export type Addresses = {
  readonly base_url: string
  readonly identity_url: string
  readonly ingest_url: string
  readonly console_url: string
}

const PLATFORM_NAMES = ['Demo One', 'Demo Two'] as const
const USER_EMAIL = 'demo@millrace.example'
const FILE = 'credentials.json'
/** Holds the accounts while the processes are not ready yet: credentials.json appears only when everything answers. */
const DRAFT = 'credentials.draft.json'

function writeSecret(file: string, value: object): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

/** The accounts in a file of ours, or null when there is none or it is not whole. */
function readAccounts(file: string): Accounts | null {
  try {
    const { platforms, user } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Accounts>
    const whole = platforms?.length === PLATFORM_NAMES.length && platforms.every(each => keysOf(each).every(Boolean))
    return whole && user?.email && user.password ? { platforms, user } : null
  } catch {
    return null
  }
}

const keysOf = (platform: NewPlatform): string[] => [
  platform.environments.TEST.api_key,
  platform.environments.LIVE.api_key,
]

const idsOf = (platforms: readonly NewPlatform[]): string[] => platforms.map(({ id }) => id)

/** Whether this database still takes every key: it may be another database than the one the file was written for. */
async function areKnown(databaseUrl: string, accounts: Accounts): Promise<boolean> {
  const hashes = accounts.platforms.flatMap(keysOf).map(hashApiKey)
  const database = openAsOwner({
    url: databaseUrl,
    role: 'millrace_gateway',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    const { rows } = await asSystem(database, 'load-api-keys', tx =>
      tx.execute(sql`select count(*)::int as known from api_keys
                     where revoked_at is null and sha256 in (${sql.join(hashes, sql`, `)})`),
    )
    return rows[0]?.['known'] === hashes.length
  } finally {
    await database.close()
  }
}

/** The two platforms and the user: those of the last start if the database still knows them, new ones otherwise. */
export async function findOrCreateAccounts(databaseUrl: string, dataDir: string): Promise<Accounts> {
  const draft = join(dataDir, DRAFT)
  const kept = readAccounts(join(dataDir, FILE)) ?? readAccounts(draft)
  const accounts = kept && (await areKnown(databaseUrl, kept)) ? kept : await createAccounts(databaseUrl)
  // The user of a start from before there were memberships has none.
  if (accounts === kept) await makeAdministrator(databaseUrl, kept.user.email, idsOf(kept.platforms))
  writeSecret(draft, accounts)
  rmSync(join(dataDir, FILE), { force: true })
  return accounts
}

async function createAccounts(databaseUrl: string): Promise<Accounts> {
  const platforms: NewPlatform[] = []
  for (const name of PLATFORM_NAMES) platforms.push(await createPlatform(databaseUrl, name))
  return { platforms, user: await createUser(databaseUrl, USER_EMAIL, idsOf(platforms)) }
}

/** Writes credentials.json (mode 0600); from then on everything answers. */
export function writeCredentials(dataDir: string, addresses: Addresses, accounts: Accounts): string {
  const file = join(dataDir, FILE)
  writeSecret(file, { ...addresses, platforms: accounts.platforms, user: accounts.user })
  rmSync(join(dataDir, DRAFT), { force: true })
  return file
}
