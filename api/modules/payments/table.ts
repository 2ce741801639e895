import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { Id } from '../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { Amount } from '../../resource/shapes.ts'

export const PAYMENT_RESULTS = ['AUTHORIZED', 'PENDING', 'REFUSED', 'ERROR', 'CANCELLED', 'REFUNDED'] as const

export const payments = pgTable('payments', {
  ...tenantColumns<'paym'>(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  /** Null for a payment on account. */
  invoice_id: text().$type<Id<'invo'>>(),
  timestamp: timestamp().notNull(),
  amount: wireJson<Static<typeof Amount>>().notNull(),
  /** What was paid back of it. */
  refunded_amount: wireJson<Static<typeof Amount>>().notNull(),
  reference: text(),
  external_reference: text(),
  result: text().$type<(typeof PAYMENT_RESULTS)[number]>().notNull(),
})

export type Payment = typeof payments.$inferSelect
