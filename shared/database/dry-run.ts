// Work that is done to see what comes of it, and then undone.
import type { Tenant } from '../tenant.ts'
import { type Database, inTenant, type Uow } from './database.ts'

const UNDONE = new Error('done to see what comes of it')

/**
 * Runs `work` in a transaction of `tenant` that is rolled back; returns what it gave. It leaves no notices, and takes no locks on rows
 * that it reads, so whoever tries something out waits for nobody who reads the same, and nobody waits for them.
 */
export async function inDryRun<T>(database: Database, tenant: Tenant, work: (uow: Uow) => Promise<T>): Promise<T> {
  const found: { result?: { readonly value: T } } = {}
  await inTenant(database, tenant, { id: null, requestId: null }, async uow => {
    found.result = { value: await work({ ...uow, isDryRun: true }) }
    throw UNDONE
  }).catch(error => {
    if (error !== UNDONE) throw error
  })
  if (!found.result) throw new Error('the work was done')
  return found.result.value
}
