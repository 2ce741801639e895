// The plan of a SETTINGS file: the tenant's own columns, by the mappings of its file processing settings.
import type { DefaultValue, MappingSettings, MeterDataSettings } from '../../file-processing-settings/table.ts'
import { UnreadableFile } from '../unreadable-file.ts'
import { TIMESTAMP } from './default-plan.ts'
import type { Cell, LineMapping, Named, Plan, ValueSource } from './plan.ts'

/** Throws UnreadableFile when the header lacks a column that the settings name and give no default for. */
export function settingsPlan(columns: readonly string[], settings: MeterDataSettings, hasCustomer: boolean): Plan {
  const find = (column: string): number | null => (columns.includes(column) ? columns.indexOf(column) : null)
  const must = (column: string): number => {
    const index = find(column)
    if (index === null) {
      throw new UnreadableFile(
        `The header lacks the column ${JSON.stringify(column)}, which the file processing settings name without a default.`,
      )
    }
    return index
  }
  const chooser = settings.mapping_column == null ? null : must(settings.mapping_column)
  const customerColumn = settings.customer_reference_mapping?.column
  if (customerColumn == null && !hasCustomer) {
    throw new UnreadableFile('No line names a customer: give customer_reference_mapping, or customer_id with the file.')
  }
  const byField = new Map<string, LineMapping>()
  let otherwise: LineMapping | null = null
  for (const mapping of settings.mappings) {
    const line = lineMapping(mapping, find, must)
    const fields = mapping.column_values ?? []
    if (fields.length === 0) otherwise = line
    for (const field of fields) byField.set(field, line)
  }
  return {
    columns,
    chooser,
    byField,
    otherwise,
    customer: customerColumn == null ? null : hasCustomer ? find(customerColumn) : must(customerColumn),
    timestamp: find(TIMESTAMP),
  }
}

type Find = (column: string) => number | null
type Must = (column: string) => number

function lineMapping(mapping: MappingSettings, find: Find, must: Must): LineMapping {
  const { meter_reference_mapping: meter, ingest_reference_mapping: reference } = mapping
  const cellOf = (column: string | null | undefined, defaults: DefaultValue | null | undefined): Cell | null => {
    if (column == null) return constant(defaults)
    const index = find(column)
    if (index !== null) return { column: index, empty: defaults?.empty_field ?? null }
    return constant(defaults) ?? { column: must(column), empty: null }
  }
  return {
    meter: meter.column == null ? nameOf(meter) : { column: must(meter.column) },
    reference: {
      column: must(reference.column),
      prefix: reference.prefix?.column == null ? null : must(reference.prefix.column),
    },
    properties: (mapping.meter_property_mappings ?? []).flatMap(property => {
      const value = cellOf(property.column, property.default_value)
      return value === null ? [] : [{ name: nameOf(property), value }]
    }),
    values: (mapping.meter_value_mappings ?? []).flatMap((value): ValueSource[] => {
      const name = nameOf(value)
      const { column, default_value: defaults } = value
      const number = cellOf(column?.number, defaults?.number)
      if (number !== null) return [{ name, kind: 'number', number }]
      const quantity = cellOf(column?.amount?.quantity, defaults?.amount?.quantity)
      const currency = cellOf(column?.amount?.currency, defaults?.amount?.currency)
      return quantity === null || currency === null ? [] : [{ name, kind: 'amount', quantity, currency }]
    }),
  }
}

const constant = (defaults: DefaultValue | null | undefined): Cell | null =>
  defaults?.absent_column == null ? null : { constant: defaults.absent_column }

/** Settings are saved with exactly one of the two. */
const nameOf = ({ id, reference }: { id?: string | null; reference?: string | null }): Named =>
  id == null ? { reference: reference ?? '' } : { id }
