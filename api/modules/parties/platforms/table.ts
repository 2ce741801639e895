import { sql } from 'drizzle-orm'
import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { ExchangeRateSettings, ExchangeRateStatus } from './exchange-rate-settings.ts'
import type {
  ApiSettings,
  Branding,
  IngestSettings,
  InvoiceSettings,
  LateEventPolicy,
  ProcessingSettings,
  ReprocessingSettings,
  RoundingSettings,
} from './schema.ts'
import type { SubscriptionSettings } from './subscription-settings.ts'

export const platforms = pgTable('platforms', {
  ...tenantColumns<'plat'>(),
  id: text().notNull().generatedAlwaysAs(sql`platform_id`),
  reference: text(),
  name: text().notNull(),
  description: text(),
  status: text().notNull(),
  timezone: text().notNull(),
  default_billing_entity_id: text().$type<Id<'bill'>>(),
  default_product_tax_category: text().$type<'STANDARD' | 'NO_TAX' | 'EXEMPT'>().notNull(),
  default_pricing_currency: text(),
  branding: wireJson<Branding>().notNull(),
  invoice_settings: wireJson<InvoiceSettings>().notNull(),
  ingest_settings: wireJson<IngestSettings>().notNull(),
  api_settings: wireJson<ApiSettings>().notNull(),
  rounding_settings: wireJson<RoundingSettings>().notNull(),
  reprocessing_settings: wireJson<ReprocessingSettings>().notNull(),
  processing_settings: wireJson<ProcessingSettings>().notNull(),
  default_pricing_plan_subscription_settings: wireJson<SubscriptionSettings>().notNull(),
  late_event_policy: text().$type<LateEventPolicy>().notNull(),
  exchange_rate_settings: wireJson<ExchangeRateSettings>().notNull(),
  exchange_rate_status: wireJson<ExchangeRateStatus>(),
})

export type Platform = typeof platforms.$inferSelect
