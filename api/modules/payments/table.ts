import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { Amount } from '../../resource/shapes.ts'

export const PAYMENT_RESULTS = ['AUTHORIZED', 'CANCELLED'] as const

export const payments = pgTable('payments', {
  ...tenantColumns(),
  customer_id: text().notNull(),
  /** Null for a payment on account. */
  invoice_id: text(),
  timestamp: timestamp().notNull(),
  amount: wireJson<Static<typeof Amount>>().notNull(),
  reference: text(),
  external_reference: text(),
  result: text().$type<(typeof PAYMENT_RESULTS)[number]>().notNull(),
})

export type Payment = typeof payments.$inferSelect
