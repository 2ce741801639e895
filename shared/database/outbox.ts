// The one door to the outbox: every notice of a change, whichever process makes it, is written here, in the change's transaction.
import { type SQL, sql } from 'drizzle-orm'
import { newId } from '../ids.ts'
import type { Tenant } from '../tenant.ts'
import type { Actor, SystemTransaction } from './database.ts'

export type DomainEvent = {
  /** `<OBJECT_TYPE>.<ACTION>`, uppercase (contract: Events). */
  readonly type: `${string}.${string}`
  readonly objectId: string
  /** The resource after the change, as the API returns it. */
  readonly data: Record<string, unknown>
  /** The resource before the change; null unless it is an update. */
  readonly previous: Record<string, unknown> | null
}

/** Writes the notice of `event` in `of.tenant`; it becomes visible to consumers when the transaction commits. `of.at` is when it happened. */
export async function writeNotice(
  tx: SystemTransaction,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly at: SQL },
  event: DomainEvent,
): Promise<void> {
  const { tenant, actor, at } = of
  await tx.execute(sql`
    insert into outbox (platform_id, environment, id, type, object_type, object_id, data, previous_data, request_id, actor_id,
      impersonated_user_id, credential_id, ip, idempotency_key, created_at)
    values (${tenant.platformId}, ${tenant.environment}, ${newId('evnt')}, ${event.type}, ${event.type.split('.')[0]}, ${event.objectId},
      ${JSON.stringify(event.data)}::jsonb, ${event.previous === null ? null : JSON.stringify(event.previous)}::jsonb,
      ${actor.requestId}, ${actor.id}, ${actor.impersonatedUserId ?? null}, ${actor.credentialId ?? null}, ${actor.ip ?? null},
      ${actor.idempotencyKey ?? null}, ${at})`)
}
