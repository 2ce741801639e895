// The door of this process to the audit trails of its users' tenants. What it may write there is a closed list.
import '../../shared/access/account-events.ts' // declares them
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { type DomainEvent, writeNotices } from '../../shared/database/outbox.ts'
import type { Tenant } from '../../shared/tenant.ts'

/** Writes the notice of a change with each of `tenants`, as they are read: rows with more than a tenant will do. */
export async function writeTenantNotices(
  tx: SystemTransaction,
  tenants: readonly Tenant[],
  by: { readonly actorId: string | null; readonly requestId: string | null },
  event: DomainEvent,
): Promise<void> {
  const actor = { id: by.actorId, requestId: by.requestId }
  for (const { platformId, environment } of tenants)
    await writeNotices(tx, { tenant: { platformId, environment }, actor, at: sql`identity_now()` }, [event])
}
