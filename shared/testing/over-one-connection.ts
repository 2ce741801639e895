// A database of a test file's own, reached in the role of the api over one connection: what one statement leaves on it, the next meets.
import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../database/database.ts'
import { silentLogger } from '../process/logger.ts'
import { systemClock } from '../time.ts'
import { openTestDatabase } from './database-logins.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

/** Makes it before the tests of the file that calls this, and drops it after them. Gives what returns it. */
export function overOneConnection(): () => Database {
  let made: TestDatabase | undefined
  let database: Database | undefined
  beforeAll(async () => {
    made = await createTestDatabase()
    const shared = { url: made.url, clock: systemClock, logger: silentLogger }
    database = await openTestDatabase({ ...shared, role: 'millrace_app', poolMax: 1 })
  })
  afterAll(async () => {
    await database?.close()
    await made?.drop()
  })
  return () => {
    if (!database) throw new Error('a test runs after its database was made')
    return database
  }
}
