// Attempts of one webhook, stored in its tenant.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import type { AttemptRow } from './queue/queue-store.ts'

/** Stores attempts and their outcomes. */
export async function saveAttempts(uow: Uow, webhookId: string, attempts: readonly AttemptRow[]): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into webhook_attempts (platform_id, environment, webhook_id, id, created_at, event_id, kind, succeeded, response_code,
      cause, duration_ms, replay_id, replayed_object_id)
    select ${platformId}, ${environment}, ${webhookId}, id, created_at, event_id, kind, succeeded, response_code, cause, duration_ms,
      replay_id, replayed_object_id
    from jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) as a(id text, created_at timestamptz, event_id text, kind text,
      succeeded boolean, response_code int, cause text, duration_ms int, replay_id text, replayed_object_id text)`)
}
