// The logins of the processes on a server that tests or benchmarks share: the password of each follows from the owner's, so that
// every run on that server finds the same.
import { createHash } from 'node:crypto'
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

/** `openDatabase` with the login of the role, for a test that knows the owner's address. */
export const openTestDatabase = (options: Parameters<typeof openDatabase>[0]): Promise<Database> =>
  openDatabase({ ...options, url: loginOf(options.url, options.role) })
