// Names of databases made for tests.
import { randomBytes } from 'node:crypto'

/** A database name no other test, nor an earlier run on the same server, has. */
export const uniqueName = (): string => `test_${Date.now().toString(36)}_${randomBytes(4).toString('hex')}`
