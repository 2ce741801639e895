import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../resource/columns.ts'
import type { AlertData, RuleEntitlement, RuleInvoice } from './schema.ts'

export type AlertRuleStatus = 'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'

export const alertRules = pgTable('alert_rules', {
  ...tenantColumns<'alru'>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  status: text().$type<AlertRuleStatus>().notNull(),
  customer_ids: text().array().notNull(),
  type: text().$type<'ENTITLEMENT' | 'INVOICE'>().notNull(),
  trigger_type: text().$type<'STATIC' | 'DYNAMIC'>().notNull(),
  entitlement: wireJson<RuleEntitlement>(),
  invoice: wireJson<RuleInvoice>(),
})

export const alerts = pgTable('alerts', {
  ...tenantColumns<'aler'>(),
  alert_rule_id: text().$type<Id<'alru'>>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  type: text().$type<'ENTITLEMENT' | 'INVOICE'>().notNull(),
  data_trigger_reference: text(),
  alert_data: wireJson<AlertData>().notNull(),
})

export type AlertRule = typeof alertRules.$inferSelect
export type Alert = typeof alerts.$inferSelect
