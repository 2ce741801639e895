import { sql } from 'drizzle-orm'
import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { Facts } from './rules/facts.ts'
import type { ApprovalType, Approvers, RequestStatus, Reviewer, RuleGroups, SourceType, Strategy } from './schema.ts'

export const approvalPolicies = pgTable('approval_policies', {
  ...tenantColumns<'appo'>(),
  reference: text().notNull(),
  name: text().notNull(),
  source_type: text().$type<SourceType>().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  approval_type: text().$type<ApprovalType>().notNull(),
  approvers: wireJson<Approvers>().notNull(),
  rule_groups: wireJson<RuleGroups>().notNull(),
})

export type ApprovalPolicy = typeof approvalPolicies.$inferSelect

export const approvalRequests = pgTable('approval_requests', {
  ...tenantColumns<'appr'>(),
  source_type: text().$type<SourceType>().notNull(),
  source_id: text().notNull(),
  pricing_plan_schedule_id: text().generatedAlwaysAs(
    sql`case source_type when 'PRICING_PLAN_SCHEDULE' then source_id end`,
  ),
  status: text().$type<RequestStatus>().notNull(),
  approval_policy_ids: text().array().$type<Id<'appo'>[]>().notNull(),
  approval_strategy: text().$type<Strategy>().notNull(),
  owner_id: text(),
  reviewed_at: timestamp(),
  reviewers: wireJson<readonly Reviewer[]>().notNull(),
  facts: wireJson<Facts>().notNull(),
})

export type ApprovalRequest = typeof approvalRequests.$inferSelect
