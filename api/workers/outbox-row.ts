// A change as those who follow the outbox read it.
import { type SQL, sql } from 'drizzle-orm'
import { bodyOf, type StoredBody } from '../../shared/database/outbox.ts'
import type { Environment } from '../../shared/tenant.ts'

/** One row of the outbox without the resource, which is nearly all of its size. */
export type ChangeHead = {
  platform_id: string
  environment: Environment
  id: string
  type: string
  object_type: string
  object_id: string
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

/** One row of the outbox. */
export type OutboxRow = ChangeHead & {
  data: Record<string, unknown>
  /** The whole resource before the change; null unless it is an update. */
  previous_data: Record<string, unknown> | null
}

/** A row as `OUTBOX_COLUMNS` reads it. */
export type StoredOutboxRow = ChangeHead & StoredBody

export function outboxRow({ data, data_changes, previous_data, former_values, ...head }: StoredOutboxRow): OutboxRow {
  return { ...head, ...bodyOf({ data, data_changes, previous_data, former_values }) }
}

/** The head of a row of the outbox, or of a part of it called `o`. */
export const HEAD_COLUMNS: SQL = sql.raw(`
  o.platform_id, o.environment, o.id, o.type, o.object_type, o.object_id, o.metadata, o.request_id, o.actor_id,
  o.impersonated_user_id, o.credential_id, o.ip, o.idempotency_key,
  to_char(o.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`)

/** Of the row that holds the resource: it is never relayed or deleted before this one. */
const holder = (column: string): string =>
  `(select ${column} from outbox h where h.platform_id = o.platform_id and h.environment = o.environment and h.id = o.data_in)`

/** What `outboxRow` takes, of the outbox or a part of it called `o`. */
export const OUTBOX_COLUMNS: SQL = sql`${HEAD_COLUMNS}, ${sql.raw(
  `coalesce(o.data, ${holder('h.data')}) as data, o.data_changes, o.previous_data, o.former_values`,
)}`

/** What the resource of a row of `o` takes as it is stored. */
export const BODY_BYTES: SQL = sql.raw(`coalesce(pg_column_size(o.data), ${holder('pg_column_size(h.data)')})`)
