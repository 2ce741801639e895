// The logins of the processes on a server that tests or benchmarks share: the password of each follows from the owner's, so that
// every run on that server finds the same.
import { createHash } from 'node:crypto'
import pg from 'pg'
import { type Database, type DatabaseRole, openDatabase } from '../database/database.ts'
import { type Logins, loginsOf, prepareLogins } from '../database/logins.ts'

/** The address of each role in the database at `ownerUrl`. */
export const testLogins = (ownerUrl: string): Logins => {
  const { password } = new URL(ownerUrl)
  return loginsOf(ownerUrl, role => createHash('sha256').update(`${role}:${password}`).digest('hex'))
}

/** Where a process logs in as `role` to the database at `ownerUrl`. */
export const loginOf = (ownerUrl: string, role: DatabaseRole): string => testLogins(ownerUrl)[role]

/** Makes the logins, once the roles are there. */
export const prepareTestLogins = (ownerUrl: string): Promise<void> => prepareLogins(ownerUrl, testLogins(ownerUrl))

/**
 * Has the server at `ownerUrl`, which is of this run alone, check the same passwords with one round of hashing for 4,096, which take
 * both sides some milliseconds of processor time for each of the thousands of connections of a run.
 */
export async function hashOnce(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    await client.query('set scram_iterations = 1')
    for (const { username, password } of [ownerUrl, ...Object.values(testLogins(ownerUrl))].map(url => new URL(url))) {
      const literal = client.escapeLiteral(decodeURIComponent(password))
      await client.query(`alter role ${client.escapeIdentifier(username)} password ${literal}`)
    }
  } finally {
    await client.end()
  }
}

/** `openDatabase` with the login of the role, for a test that knows the owner's address. */
export const openTestDatabase = (options: Parameters<typeof openDatabase>[0]): Promise<Database> =>
  openDatabase({ ...options, url: loginOf(options.url, options.role) })
