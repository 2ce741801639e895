import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import type { CreditsView } from '../../catalog/credit-types/schema.ts'
import type { MoneyView } from '../schema.ts'

export const autoTopUpConfigs = pgTable('auto_top_up_configs', {
  ...tenantColumns<'atuc'>(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'INACTIVE'>().notNull(),
  wallet_id: text().$type<Id<'wall'>>().notNull(),
  pricing_plan_schedule_id: text().$type<Id<'ppsc'>>().notNull(),
  pricing_item_id: text().$type<Id<'prii'>>().notNull(),
  threshold: wireJson<{ readonly amount?: MoneyView | null; readonly credits?: CreditsView | null }>().notNull(),
  threshold_quantity: decimalText().notNull(),
  topup_amount: wireJson<MoneyView>(),
  units: wireJson<{ readonly number?: string | null }>(),
  last_invoice_id: text().$type<Id<'invo'>>(),
  failed_attempts: integer().notNull(),
  last_failure: text(),
  next_attempt_at: timestamp(),
})

export type AutoTopUpConfig = typeof autoTopUpConfigs.$inferSelect
