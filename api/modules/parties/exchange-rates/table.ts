import { pgTable, text } from 'drizzle-orm/pg-core'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import type { RateCorrection } from './schema.ts'

export const exchangeRates = pgTable('exchange_rates', {
  ...tenantColumns(),
  base_currency: text().notNull(),
  currency: text().notNull(),
  rate: decimalText().notNull(),
  rate_timestamp: timestamp().notNull(),
  source: text().notNull(),
  corrections: wireJson<readonly RateCorrection[]>().notNull(),
})

export type ExchangeRateRow = typeof exchangeRates.$inferSelect
