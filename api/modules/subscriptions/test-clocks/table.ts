import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { timestamp } from '../../../resource/columns.ts'

export const testClocks = pgTable('test_clocks', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().notNull(),
  created_at: timestamp().notNull(),
  name: text(),
  frozen_time: timestamp().notNull(),
  advancing_until: timestamp(),
})

export const testClockCustomers = pgTable('test_clock_customers', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  test_clock_id: text().notNull(),
})

export type TestClock = typeof testClocks.$inferSelect
