import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import type { MigrationResult } from './schema.ts'

export const MIGRATION_TYPES = ['IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD'] as const
export const MIGRATION_STATUSES = ['SCHEDULED', 'PREVIEWED', 'IN_PROGRESS', 'DONE', 'CANCELLED', 'ERROR'] as const

export const versionMigrations = pgTable('pricing_plan_version_migrations', {
  ...tenantColumns<'ppvm'>(),
  from_pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  type: text().$type<(typeof MIGRATION_TYPES)[number]>().notNull(),
  start_at: timestamp(),
  coupon_discount_behaviour: text().$type<'NONE' | 'CARRY_OVER'>().notNull(),
  status: text().$type<(typeof MIGRATION_STATUSES)[number]>().notNull(),
  percentage: integer().notNull(),
  message: text(),
  result: wireJson<MigrationResult>(),
  finished_at: timestamp(),
})
export type VersionMigration = typeof versionMigrations.$inferSelect

export const MIGRATED_STATUSES = ['SCHEDULED', 'PREVIEWED', 'MOVED', 'SKIPPED', 'ERROR'] as const

export const migratedSubscriptions = pgTable('migrated_subscriptions', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().notNull(),
  migration_id: text().$type<Id<'ppvm'>>().notNull(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  currency: text().notNull(),
  status: text().$type<(typeof MIGRATED_STATUSES)[number]>().notNull(),
  start_at: timestamp(),
  invoice_date: timestamp(),
  amount: decimalText(),
  migrated_amount: decimalText(),
  difference: decimalText(),
  pricing_plan_schedule_id: text().$type<Id<'ppsc'>>(),
  code: text(),
  field: text(),
  message: text(),
})
export type MigratedSubscription = typeof migratedSubscriptions.$inferSelect
