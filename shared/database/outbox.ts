// The one door to the outbox: every notice of a change, whichever process makes it, is written here, in the change's transaction.
import { type SQL, sql } from 'drizzle-orm'
import { type EventType, isDeclaredEvent } from '../contracts/event-types.ts'
import { newId } from '../ids.ts'
import type { Tenant } from '../tenant.ts'
import type { Actor, SystemTransaction } from './database.ts'
import { type FormerValue, formerValues, type Json, withFormerValues } from './former-values.ts'

export type DomainEvent = {
  readonly type: EventType
  readonly objectId: string
  /** The resource after the change, as the API returns it. */
  readonly data: Record<string, unknown>
  /** The resource before the change; null unless it is an update. */
  readonly previous: Record<string, unknown> | null
  /** What else a receiver may want to know, such as what caused it (contract: Webhook delivery payload). */
  readonly metadata?: Record<string, unknown>
}

/** Rows that one statement writes: each has a dozen values, and a statement takes 65 535. */
const ROWS_MAX = 500

/**
 * Writes the notices of `events` in `of.tenant`, in their order; they become visible to consumers when the transaction commits.
 * `of.at` is when they happened. Throws for a type that no module declares.
 */
export async function writeNotices(
  tx: SystemTransaction,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly at: SQL },
  events: readonly DomainEvent[],
): Promise<void> {
  const { tenant, actor, at } = of
  // Several notices may hold the same resource as it is then.
  const texts = new Map<DomainEvent['data'], string>()
  const textOf = (data: DomainEvent['data']): string => {
    const text = texts.get(data) ?? JSON.stringify(data)
    texts.set(data, text)
    return text
  }
  const rows = events.map(event => {
    if (!isDeclaredEvent(event.type)) throw new Error(`no module declares the event ${event.type}`)
    const data = textOf(event.data)
    return sql`(${tenant.platformId}, ${tenant.environment}, ${newId('evnt')}, ${event.type}, ${event.type.split('.')[0]}, ${event.objectId},
      ${data}::jsonb, ${event.previous === null ? null : storedFormer(textOf(event.previous), data)}::jsonb,
      ${event.metadata === undefined ? null : JSON.stringify(event.metadata)}::jsonb,
      ${actor.requestId}, ${actor.id}, ${actor.impersonatedUserId ?? null}, ${actor.credentialId ?? null}, ${actor.ip ?? null},
      ${actor.idempotencyKey ?? null}, ${at})`
  })
  for (let first = 0; first < rows.length; first += ROWS_MAX)
    await tx.execute(sql`
      insert into outbox (platform_id, environment, id, type, object_type, object_id, data, former_values, metadata, request_id, actor_id,
        impersonated_user_id, credential_id, ip, idempotency_key, created_at)
      values ${sql.join(rows.slice(first, first + ROWS_MAX), sql`, `)}`)
}

/** Compared as what is stored of both: JSON has no dates and no members without a value. */
function storedFormer(whole: string, data: string): string {
  const former = JSON.stringify(formerValues(JSON.parse(whole), JSON.parse(data)))
  // Where almost everything is another, the paths would take more than the resource.
  const asWhole = `[{"path":[],"value":${whole}}]`
  return former.length <= asWhole.length ? former : asWhole
}

/** The columns that say what a resource was before a change. `previous_data` is of rows written before `former_values` was there. */
type StoredPrevious = {
  readonly data: Record<string, unknown>
  readonly previous_data: Record<string, unknown> | null
  readonly former_values: readonly FormerValue[] | null
}

/** The whole resource before the change of a row of the outbox; null unless it is an update. */
export function previousDataOf({ data, previous_data, former_values }: StoredPrevious): Record<string, unknown> | null {
  if (former_values === null) return previous_data
  // A resource is an object before and after.
  return withFormerValues(data as Json, former_values) as Record<string, unknown>
}
