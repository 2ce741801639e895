// The notice of a change, written in the transaction of the change. Nothing else publishes changes.
import { sql } from 'drizzle-orm'
import type { Uow } from '../shared/database/database.ts'
import { newId } from '../shared/ids.ts'
import { formatInstant } from '../shared/time.ts'

export type DomainEvent = {
  /** `<OBJECT_TYPE>.<ACTION>`, uppercase (contract: Events). */
  readonly type: `${string}.${string}`
  readonly objectId: string
  /** The resource after the change, as the API returns it. */
  readonly data: Record<string, unknown>
  /** The resource before the change; null unless it is an update. */
  readonly previous: Record<string, unknown> | null
}

/** Writes the outbox row of `event`; it becomes visible to consumers when `uow` commits. */
export async function emit(uow: Uow, event: DomainEvent): Promise<void> {
  const { tenant, actor } = uow
  await uow.tx.execute(sql`
    insert into outbox (platform_id, environment, id, type, object_type, object_id, data, previous_data, request_id, actor_id,
      impersonated_user_id, credential_id, ip, idempotency_key, created_at)
    values (${tenant.platformId}, ${tenant.environment}, ${newId('evnt')}, ${event.type}, ${event.type.split('.')[0]}, ${event.objectId},
      ${JSON.stringify(event.data)}::jsonb, ${event.previous === null ? null : JSON.stringify(event.previous)}::jsonb,
      ${actor.requestId}, ${actor.id}, ${actor.impersonatedUserId ?? null}, ${actor.credentialId ?? null}, ${actor.ip ?? null},
      ${actor.idempotencyKey ?? null}, ${formatInstant(uow.now)})`)
}
