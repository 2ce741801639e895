import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

export type MemberStatus = 'INVITED' | 'INVITE_REVOKED' | 'ACTIVE' | 'INACTIVE'

/** People, of no tenant. Row-level security shows a tenant those who are its members; the api never writes here. */
export const users = pgTable('users', {
  id: text().notNull(),
  username: text().notNull(),
  status: text().$type<MemberStatus>().notNull(),
})

export const userMemberships = pgTable('user_memberships', {
  ...tenantColumns<'memb'>(),
  user_id: text().notNull(),
  role_ids: text().array().notNull(),
  status: text().$type<MemberStatus>().notNull(),
})

export const userInvitations = pgTable('user_invitations', {
  ...tenantColumns<'uinv'>(),
  user_id: text().notNull(),
  invited_by: text(),
  revoked_at: timestamp(),
  accepted_at: timestamp(),
})
