// File processing settings: how a tenant's own columns become events.
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { OneOf, Reference } from '../../../resource/shapes.ts'
import { requireAll } from '../../../resource/store.ts'
import { meterResource } from '../../catalog/meters/meter.ts'
import { meterPropertyResource } from '../../catalog/meters/meter-property.ts'
import { meterValueResource } from '../../catalog/meters/meter-value.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { CustomerNames, MeterDataShape } from './schema.ts'
import { type FileProcessingSettings, fileProcessingSettings, type MeterDataSettings } from './table.ts'

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/** Exactly one of `names` must be given in the object at `path`. */
function requireOne(given: object, names: readonly string[], path: string): void {
  const present = names.filter(name => (given as Record<string, unknown>)[name] != null)
  if (present.length === 1) return
  refuse(`${path}.${present[1] ?? names[0]}`, `Give exactly one of ${names.join(', ')}.`)
}

/** A rule over the settings as a whole: no line may find two mappings, and each mapping says enough to make an event. */
function checkMappings({ mapping_column: chooser, mappings }: MeterDataSettings): void {
  const taken = new Set<string>()
  for (const [index, mapping] of mappings.entries()) {
    const path = `meter_data.mappings.${index}`
    const fields = mapping.column_values ?? []
    if (chooser == null && fields.length > 0) {
      refuse(`${path}.column_values`, 'column_values choose a mapping by mapping_column; give that too.')
    }
    for (const field of fields.length === 0 ? [''] : fields) {
      const key = fields.length === 0 ? 'any' : `=${field}`
      if (taken.has(key)) refuse(`${path}.column_values`, 'Two mappings apply to the same lines.')
      taken.add(key)
    }
    requireOne(mapping.meter_reference_mapping, ['id', 'reference', 'column'], `${path}.meter_reference_mapping`)
    for (const list of ['meter_property_mappings', 'meter_value_mappings'] as const) {
      for (const [at, entry] of (mapping[list] ?? []).entries())
        requireOne(entry, ['id', 'reference'], `${path}.${list}.${at}`)
    }
    checkSources(mapping, path)
  }
}

function checkSources(mapping: MeterDataSettings['mappings'][number], path: string): void {
  for (const [at, entry] of (mapping.meter_property_mappings ?? []).entries()) {
    if (entry.column == null && entry.default_value?.absent_column == null) {
      refuse(
        `${path}.meter_property_mappings.${at}.column`,
        'Give a column, or default_value.absent_column for every line.',
      )
    }
  }
  for (const [at, { column, default_value: defaults }] of (mapping.meter_value_mappings ?? []).entries()) {
    const where = `${path}.meter_value_mappings.${at}`
    const number = column?.number != null || defaults?.number?.absent_column != null
    const parts = (['quantity', 'currency'] as const).filter(
      part => column?.amount?.[part] != null || defaults?.amount?.[part]?.absent_column != null,
    )
    if (number && parts.length > 0) refuse(`${where}.column`, 'A value is a number or an amount, not both.')
    if (!number && parts.length < 2) {
      refuse(`${where}.column`, 'Give number, or both quantity and currency of amount, each by a column or a default.')
    }
  }
}

export const fileProcessingSettingsResource = defineResource<FileProcessingSettings>({
  objectType: 'FILE_PROCESSING_SETTINGS',
  shapeName: 'FileProcessingSettings',
  idPrefix: 'fips',
  path: 'file-processing-settings',
  table: fileProcessingSettings,
  fields: {
    reference: field(Reference, { create: 'required' }),
    type: field(OneOf('METER_DATA'), { create: 'required', change: 'never' }),
    meter_data: field(MeterDataShape, { create: 'required' }),
    included_customers: field(CustomerNames),
    excluded_customers: field(CustomerNames),
  },
  operations: ['create', 'list', 'get', 'update'],
  byReference: true,
  defaults: () => ({ included_customers: [], excluded_customers: [] }),
  check: async (uow, row) => {
    checkMappings(row.meter_data)
    const idsIn = (entries: readonly { id?: string }[] | null | undefined, path: string) =>
      (entries ?? []).flatMap(({ id }, at) => (id === undefined ? [] : [{ id, field: `${path}.${at}.id` }]))
    for (const [index, mapping] of row.meter_data.mappings.entries()) {
      const path = `meter_data.mappings.${index}`
      const { id } = mapping.meter_reference_mapping
      if (id !== undefined) await requireAll(uow, meterResource, [{ id, field: `${path}.meter_reference_mapping.id` }])
      await requireAll(
        uow,
        meterPropertyResource,
        idsIn(mapping.meter_property_mappings, `${path}.meter_property_mappings`),
      )
      await requireAll(uow, meterValueResource, idsIn(mapping.meter_value_mappings, `${path}.meter_value_mappings`))
    }
    for (const list of ['included_customers', 'excluded_customers'] as const) {
      for (const [at, entry] of row[list].entries()) requireOne(entry, ['id', 'reference'], `${list}.${at}`)
      await requireAll(uow, customerResource, idsIn(row[list], list))
    }
  },
  fixture: {
    create: async seed => {
      const meter = await seed.make(meterResource)
      const customer = await seed.make(customerResource)
      return {
        reference: seed.unique('export'),
        type: 'METER_DATA',
        meter_data: {
          mappings: [
            {
              meter_reference_mapping: { id: meter.id },
              ingest_reference_mapping: { column: 'ref' },
              meter_value_mappings: [{ id: meter.meter_values[0]?.id, column: { number: 'tokens' } }],
            },
          ],
          customer_reference_mapping: { column: 'account' },
        },
        excluded_customers: [{ id: customer.id }],
      }
    },
    update: { excluded_customers: [] },
  },
})
