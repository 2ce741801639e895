import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

export const teams = pgTable('teams', {
  ...tenantColumns<'team'>(),
  name: text().notNull(),
  role_ids: text().array().notNull(),
})

export const teamMembers = pgTable('team_members', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  team_id: text().notNull(),
  user_id: text().notNull(),
  created_at: timestamp().notNull(),
  updated_at: timestamp().notNull(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
})

export type Team = typeof teams.$inferSelect
export type TeamMember = typeof teamMembers.$inferSelect
