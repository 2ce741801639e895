import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { AgentContext } from '../../../resource/shapes.ts'
import type { Entitlement } from '../features/schema.ts'
import type { PricingItem, RateCard } from './schema.ts'
import type { SelectionRules } from './selection/selection-rules.ts'
import type { CurrencySettings, PeriodSettings } from './variants/settings.ts'

export const pricingPlans = pgTable('pricing_plans', {
  ...tenantColumns<'pric'>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  type: text().$type<'STANDARD' | 'CUSTOM'>().notNull(),
  /** Of a CUSTOM plan: the customer it is for. */
  customer_id: text().$type<Id<'cust'>>(),
  amount_type: text().$type<'EXCLUDING_TAX' | 'INCLUDING_TAX'>().notNull(),
  variant: text().$type<'DEFAULT' | 'RATE_CARD'>().notNull(),
  pricing_plan_selection_rules: wireJson<SelectionRules>().notNull(),
  agent_context: wireJson<Static<typeof AgentContext>>(),
  /** The prices of schedules stand in a plan that no call shows (prices-of-schedules). */
  unlisted: boolean().notNull().default(false),
})

export const pricingPlanVersions = pgTable('pricing_plan_versions', {
  ...tenantColumns<'ppve'>(),
  pricing_plan_id: text().$type<Id<'pric'>>().notNull(),
  version: integer().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'>().notNull(),
  copied_from_pricing_plan_version_id: text().$type<Id<'ppve'>>(),
  /** Of a rate card: from when on the version is in force. */
  rate_card: wireJson<RateCard>(),
  pricing_currency_settings: wireJson<Static<typeof CurrencySettings>>(),
  billing_period_settings: wireJson<Static<typeof PeriodSettings>>(),
  unlisted: boolean().notNull().default(false),
})

export const pricings = pgTable('pricings', {
  ...tenantColumns<'prcg'>(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  pricing_group_id: text().$type<Id<'prgr'>>(),
  name: text().notNull(),
  product_type: text().$type<'DEFAULT' | 'ADDON'>().notNull(),
  product_ids: text().array().notNull(),
  display_order: integer(),
  items: wireJson<PricingItem[]>().notNull(),
  entitlements: wireJson<Entitlement[]>().notNull(),
  /** Whether it is sold by schedules alone, in a version that no call shows. */
  of_schedules: boolean().notNull().default(false),
})

export type PricingPlan = typeof pricingPlans.$inferSelect
export type PricingPlanVersion = typeof pricingPlanVersions.$inferSelect
export type Pricing = typeof pricings.$inferSelect
