import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns } from '../../../resource/columns.ts'

export type FeatureType = 'SWITCH' | 'NUMBER' | 'ENUM' | 'AMOUNT' | 'STRING'

export const features = pgTable('features', {
  ...tenantColumns<'feat'>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
  type: text().$type<FeatureType>().notNull(),
  enum_values: text().array(),
  meter_value_calculation_id: text().$type<Id<'bmet'>>(),
})

export type Feature = typeof features.$inferSelect
