import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, timestamp } from '../../../resource/columns.ts'

export const seatAssignments = pgTable('seat_assignments', {
  ...tenantColumns<'seat'>(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>().notNull(),
  product_item_id: text().$type<Id<'proi'>>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
})

export type SeatAssignment = typeof seatAssignments.$inferSelect
