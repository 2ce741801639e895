import { boolean, customType, integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../shared/ids.ts'
import type { Environment } from '../../../shared/tenant.ts'
import { tenantColumns, timestamp } from '../../resource/columns.ts'

export const AUTHENTICATION_TYPES = ['PASSWORD', 'API_KEY', 'NONE'] as const
/** A position in the outbox; larger than the integers that JavaScript holds exactly. */
const position = customType<{ data: string }>({ dataType: () => 'bigint' })

/** Why an event was sent: in its turn, from the penalty box, by hand, or by a replay. */
export const ATTEMPT_KINDS = ['QUEUE', 'PENALTY_BOX', 'RESEND', 'REPLAY'] as const
export type AttemptKind = (typeof ATTEMPT_KINDS)[number]
export type AuthenticationType = (typeof AUTHENTICATION_TYPES)[number]

export const webhooks = pgTable('webhooks', {
  ...tenantColumns<'webh'>(),
  reference: text().notNull(),
  name: text().notNull(),
  url: text().notNull(),
  included_actions: text().array().notNull(),
  excluded_actions: text().array().notNull(),
  active: boolean().notNull(),
  disabled_reason: text(),
  include_previous_data: boolean().notNull(),
  authentication_type: text().$type<AuthenticationType>().notNull(),
  username: text(),
  password_sealed: text(),
  api_header_field: text(),
  api_key_sealed: text(),
  secret_sealed: text(),
  secret_rolled_at: timestamp(),
  previous_secret_sealed: text(),
  previous_secret_until: timestamp(),
})

/** What was sent to a webhook, and the outcome. */
export const webhookAttempts = pgTable('webhook_attempts', {
  platform_id: text().notNull(),
  environment: text().$type<Environment>().notNull(),
  id: text().notNull(),
  created_at: timestamp().notNull(),
  webhook_id: text().$type<Id<'webh'>>().notNull(),
  event_id: text().notNull(),
  kind: text().$type<AttemptKind>().notNull(),
  succeeded: boolean().notNull(),
  response_code: integer(),
  cause: text(),
  duration_ms: integer().notNull(),
})

export const REPLAY_SCOPES = ['ALL', 'FAILED'] as const
export const REPLAY_STATUSES = ['RUNNING', 'COMPLETED', 'CANCELLED'] as const

/** Replays: events of a webhook sent again from an earlier event on. */
export const webhookReplays = pgTable('webhook_replays', {
  platform_id: text().notNull(),
  environment: text().$type<Environment>().notNull(),
  id: text().notNull(),
  created_at: timestamp().notNull(),
  webhook_id: text().$type<Id<'webh'>>().notNull(),
  from_position: position().notNull(),
  to_position: position().notNull(),
  resume_position: position().notNull(),
  scope: text().$type<(typeof REPLAY_SCOPES)[number]>().notNull(),
  events_per_second: integer().notNull(),
  status: text().$type<(typeof REPLAY_STATUSES)[number]>().notNull(),
  events_sent: integer().notNull(),
  finished_at: timestamp(),
})

export type WebhookReplay = typeof webhookReplays.$inferSelect
export type Webhook = typeof webhooks.$inferSelect
