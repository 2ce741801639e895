import { date, pgTable, text } from 'drizzle-orm/pg-core'
import { decimalText, tenantColumns } from '../../../resource/columns.ts'

export const taxRates = pgTable('tax_rates', {
  ...tenantColumns<'txra'>(),
  country: text().notNull(),
  state: text(),
  name: text().notNull(),
  percentage: decimalText().notNull(),
  valid_from: date({ mode: 'string' }).notNull(),
  valid_to: date({ mode: 'string' }),
  source: text().notNull(),
})

export type TaxRateRow = typeof taxRates.$inferSelect
