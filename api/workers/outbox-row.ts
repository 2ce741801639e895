// A change as those who follow the outbox read it.
import { type SQL, sql } from 'drizzle-orm'
import { previousDataOf } from '../../shared/database/outbox.ts'
import type { Environment } from '../../shared/tenant.ts'

/** One row of the outbox. */
export type OutboxRow = {
  platform_id: string
  environment: Environment
  id: string
  type: string
  object_type: string
  object_id: string
  data: Record<string, unknown>
  /** The whole resource before the change; null unless it is an update. */
  previous_data: Record<string, unknown> | null
  metadata: Record<string, unknown> | null
  request_id: string | null
  actor_id: string | null
  impersonated_user_id: string | null
  credential_id: string | null
  ip: string | null
  idempotency_key: string | null
  /** To the microsecond, in UTC. */
  created_at: string
}

/** A row as `OUTBOX_COLUMNS` reads it. */
export type StoredOutboxRow = OutboxRow & Parameters<typeof previousDataOf>[0]

export const outboxRow = ({ former_values, ...row }: StoredOutboxRow): OutboxRow => ({
  ...row,
  previous_data: previousDataOf({ ...row, former_values }),
})

/** What `outboxRow` takes, of the outbox or a part of it called `o`. */
export const OUTBOX_COLUMNS: SQL = sql.raw(`
  o.platform_id, o.environment, o.id, o.type, o.object_type, o.object_id, o.data, o.previous_data, o.former_values,
  o.metadata, o.request_id, o.actor_id, o.impersonated_user_id, o.credential_id, o.ip, o.idempotency_key,
  to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`)
