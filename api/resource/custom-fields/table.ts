import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns } from '../columns.ts'
import type { CustomFieldType, ResourceWithCustomFields } from './schema.ts'

export const customFields = pgTable('custom_fields', {
  ...tenantColumns<'cufi'>(),
  reference: text().notNull(),
  resource_type: text().$type<ResourceWithCustomFields>().notNull(),
  name: text(),
  description: text(),
  type: text().$type<CustomFieldType>().notNull(),
  enum_values: text().array(),
  multiple_values: boolean().notNull(),
  unique_value: boolean().notNull(),
  copy_value_to_invoice: boolean().notNull(),
})

export type CustomField = typeof customFields.$inferSelect

const { platform_id, environment } = tenantColumns()

/** One row a value of a resource. */
export const customFieldValues = pgTable('custom_field_values', {
  platform_id,
  environment,
  resource_id: text().notNull(),
  custom_field_id: text().notNull(),
  position: integer().notNull(),
  value: text().notNull(),
  is_unique: boolean().notNull(),
})

/** What names a field by its reference. */
export const customFieldUses = pgTable('custom_field_uses', {
  platform_id,
  environment,
  custom_field_id: text().notNull(),
  resource_type: text().notNull(),
  resource_id: text().notNull(),
})
