// A dry run: work in a transaction that is always rolled back.
import type { Tenant } from '../tenant.ts'
import { type Database, inTenant, SERVICE, type Uow } from './database.ts'

const UNDONE = new Error('rolled back, as every dry run is')

/**
 * Runs `work` in a transaction of `tenant` that is rolled back; returns the result of `work`. It leaves no notices, and takes no locks on rows
 * that it reads, so a dry run and other transactions never wait for each other over these rows.
 */
export async function inDryRun<T>(database: Database, tenant: Tenant, work: (uow: Uow) => Promise<T>): Promise<T> {
  const found: { result?: { readonly value: T } } = {}
  await inTenant(database, tenant, SERVICE, async uow => {
    found.result = { value: await work({ ...uow, isDryRun: true }) }
    throw UNDONE
  }).catch(error => {
    if (error !== UNDONE) throw error
  })
  if (!found.result) throw new Error('a dry run without an error has a result')
  return found.result.value
}
