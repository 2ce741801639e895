import { pgTable, text } from 'drizzle-orm/pg-core'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'

type Maybe<T> = T | null | undefined

/** What stands for a column the header lacks, and for a field that is empty. */
export type DefaultValue = { absent_column?: Maybe<string>; empty_field?: Maybe<string> }
type ByIdOrReference = { id?: string; reference?: string }

export type MappingSettings = {
  column_values?: Maybe<string[]>
  meter_reference_mapping: ByIdOrReference & { column?: string }
  ingest_reference_mapping: { column: string; prefix?: Maybe<{ column: string }> }
  meter_property_mappings?: Maybe<(ByIdOrReference & { column?: Maybe<string>; default_value?: Maybe<DefaultValue> })[]>
  meter_value_mappings?: Maybe<
    (ByIdOrReference & {
      column?: Maybe<{ number?: Maybe<string>; amount?: Maybe<{ quantity?: Maybe<string>; currency?: Maybe<string> }> }>
      default_value?: Maybe<{
        number?: Maybe<DefaultValue>
        amount?: Maybe<{ quantity?: Maybe<DefaultValue>; currency?: Maybe<DefaultValue> }>
      }>
    })[]
  >
}

export type MeterDataSettings = {
  mapping_column?: Maybe<string>
  mappings: MappingSettings[]
  customer_reference_mapping?: Maybe<{ column: string }>
}

export type CustomerName = { id?: string; reference?: string }

export const fileProcessingSettings = pgTable('file_processing_settings', {
  ...tenantColumns<'fips'>(),
  reference: text().notNull(),
  type: text().$type<'METER_DATA'>().notNull(),
  meter_data: wireJson<MeterDataSettings>().notNull(),
  included_customers: wireJson<CustomerName[]>().notNull(),
  excluded_customers: wireJson<CustomerName[]>().notNull(),
})

export type FileProcessingSettings = typeof fileProcessingSettings.$inferSelect
