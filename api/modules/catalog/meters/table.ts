import { boolean, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'

type Lifecycle = 'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'

const named = <Prefix extends string>() => ({
  ...tenantColumns<Prefix>(),
  reference: text().notNull(),
  name: text(),
  description: text(),
})

export const meterValues = pgTable('meter_values', {
  ...named<'metv'>(),
  status: text().$type<Lifecycle>().notNull(),
  type: text().$type<'NUMBER' | 'AMOUNT'>().notNull(),
})

export const meterProperties = pgTable('meter_properties', {
  ...named<'metp'>(),
  status: text().$type<Lifecycle>().notNull(),
  type: text().$type<'NUMBER' | 'ENUM' | 'STRING'>().notNull(),
  enum_values: text().array(),
})

/** One entry of a meter's list of values or properties. */
export type MeterEntry = { id: string; reference?: string; required?: boolean }

export const meters = pgTable('meters', {
  ...named<'metr'>(),
  status: text().$type<Lifecycle>().notNull(),
  meter_values: wireJson<MeterEntry[]>().notNull(),
  meter_properties: wireJson<MeterEntry[]>().notNull(),
})

export const meterValueCalculations = pgTable('meter_value_calculations', {
  ...named<'bmet'>(),
  calculation_type: text().$type<'SUM' | 'MAX' | 'MIN' | 'AVERAGE' | 'UNIQUE'>().notNull(),
  persist: boolean().notNull(),
  meter_id: text().$type<Id<'metr'>>().notNull(),
  meter_value_id: text().$type<Id<'metv'>>(),
  meter_property_id: text().$type<Id<'metp'>>(),
})

export type MeterValue = typeof meterValues.$inferSelect
export type MeterProperty = typeof meterProperties.$inferSelect
export type Meter = typeof meters.$inferSelect
export type MeterValueCalculation = typeof meterValueCalculations.$inferSelect
