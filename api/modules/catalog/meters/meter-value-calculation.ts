// Calculations: how the events of a period become one quantity (semantics 1.1).
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Description, IdText, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { meterResource } from './meter.ts'
import { meterPropertyResource } from './meter-property.ts'
import { meterValueResource } from './meter-value.ts'
import { type MeterValueCalculation, meterValueCalculations } from './table.ts'

export const meterValueCalculationResource = defineResource<MeterValueCalculation>({
  objectType: 'METER_VALUE_CALCULATION',
  shapeName: 'MeterValueCalculation',
  idPrefix: 'bmet',
  path: 'meter-value-calculations',
  table: meterValueCalculations,
  fields: {
    reference: field(Reference, { create: 'required', change: 'never' }),
    name: field(Name),
    description: field(Description),
    calculation_type: field(OneOf('SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE'), { create: 'required', change: 'never' }),
    persist: field(Type.Boolean({ description: 'Carry the state on from period to period, inside one schedule.' }), {
      change: 'never',
    }),
    meter_id: field(IdText('meter'), { create: 'required', change: 'never' }),
    meter_value_id: field(IdText('meter value'), { change: 'never' }),
    meter_property_id: field(IdText('meter property'), { change: 'never' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: false,
  filters: { meter_id: { kind: 'equals', column: 'meter_id' } },
  expand: {
    meter: { by: 'meter_id', to: () => meterResource },
    meter_value: { by: 'meter_value_id', to: () => meterValueResource },
    meter_property: { by: 'meter_property_id', to: () => meterPropertyResource },
  },
  references: {
    meter_id: () => meterResource,
    meter_value_id: () => meterValueResource,
    meter_property_id: () => meterPropertyResource,
  },
  defaults: (_uow, row) => ({ persist: row.persist ?? false }),
  check: async (uow, row, previous) => {
    if (previous) return
    const unique = row.calculation_type === 'UNIQUE'
    const [needed, other] = unique
      ? (['meter_property_id', 'meter_value_id'] as const)
      : (['meter_value_id', 'meter_property_id'] as const)
    if (row[needed] === null)
      throw new AppError('MISSING_FIELD', `${row.calculation_type} needs ${needed}.`, { field: needed })
    if (row[other] !== null)
      throw new AppError('INVALID_FIELD', `${row.calculation_type} takes ${needed}, not ${other}.`, { field: other })
    const meter = await getOne(uow, meterResource, row.meter_id)
    const entries = unique ? meter.meter_properties : meter.meter_values
    if (!entries.some(entry => entry.id === row[needed])) {
      throw new AppError(
        'INVALID_FIELD',
        `The meter ${meter.reference} does not list this ${needed.replace('_id', '')}.`,
        { field: needed },
      )
    }
  },
  fixture: {
    create: async seed => {
      const meter = await seed.make(meterResource)
      return {
        reference: seed.unique('sum'),
        name: seed.unique('Sum'),
        calculation_type: 'SUM',
        meter_id: meter.id,
        meter_value_id: meter.meter_values[0]?.id,
      }
    },
    update: { description: 'All of it.' },
  },
})
