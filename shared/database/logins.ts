// The logins of the processes: each role of the database is a login of its own, with a password of its own. Only the owner
// makes them, when the schema is migrated; no process has the owner's password.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { DATABASE_ROLES, type DatabaseRole } from './database.ts'

/** The address of the database for each role. */
export type Logins = Readonly<Record<DatabaseRole, string>>

/** The addresses at which each role logs in to the database at `ownerUrl`. */
export function loginsOf(ownerUrl: string, passwordOf: (role: DatabaseRole) => string): Logins {
  const urlOf = (role: DatabaseRole): string => {
    const url = new URL(ownerUrl)
    url.username = role
    url.password = encodeURIComponent(passwordOf(role))
    return url.href
  }
  return {
    millrace_app: urlOf('millrace_app'),
    millrace_gateway: urlOf('millrace_gateway'),
    millrace_worker: urlOf('millrace_worker'),
    millrace_identity: urlOf('millrace_identity'),
  }
}

/**
 * Lets each role log in with the password of its address, as the owner of the migrated database. A login that works is left
 * as it is, so an operator may have made them. Throws what PostgreSQL says when the owner may not.
 */
export async function prepareLogins(ownerUrl: string, logins: Logins): Promise<void> {
  const missing: DatabaseRole[] = []
  for (const role of DATABASE_ROLES) if (!(await canLogIn(logins[role]))) missing.push(role)
  if (missing.length === 0) return
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    for (const role of missing) {
      const verifier = scramVerifier(decodeURIComponent(new URL(logins[role]).password))
      await client.query(`alter role ${client.escapeIdentifier(role)} login password ${client.escapeLiteral(verifier)}`)
    }
  } finally {
    await client.end()
  }
}

async function canLogIn(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

const ITERATIONS = 4_096

/**
 * What PostgreSQL stores of a password (RFC 5803, SCRAM-SHA-256): sent instead of the password, it leaves none in a log or in
 * the statistics of statements. `password` is ASCII.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`
}
