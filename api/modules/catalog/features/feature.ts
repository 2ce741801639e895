// Features: what plans grant in some measure, and what usage may be held against (semantics 2).
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Description, IdText, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { ENUM_VALUES_MAX } from '../meters/meter-property.ts'
import { meterValueResource } from '../meters/meter-value.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { type Feature, features } from './table.ts'

const CALCULATION = 'meter_value_calculation_id'

export const featureResource = defineResource<Feature>({
  objectType: 'FEATURE',
  shapeName: 'Feature',
  idPrefix: 'feat',
  path: 'features',
  table: features,
  fields: {
    // Entitlements carry it, and those of an ACTIVE version never change.
    reference: field(Reference, { create: 'required', change: 'never' }),
    name: field(Name),
    description: field(Description),
    type: field(OneOf('SWITCH', 'NUMBER', 'ENUM', 'AMOUNT', 'STRING'), { create: 'required', change: 'never' }),
    enum_values: field(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        minItems: 1,
        maxItems: ENUM_VALUES_MAX,
        uniqueItems: true,
        description: 'What an entitlement to a feature of type ENUM may say.',
      }),
    ),
    meter_value_calculation_id: field(IdText('calculation: what is used of a feature of type NUMBER or AMOUNT')),
  },
  operations: ['create', 'upsert', 'list', 'get', 'update', 'delete'],
  byReference: true,
  orderBy: ['reference'],
  expand: { meter_value_calculation: { by: CALCULATION, to: () => meterValueCalculationResource } },
  references: { [CALCULATION]: () => meterValueCalculationResource },
  check: async (uow, row) => {
    if ((row.type === 'ENUM') !== (row.enum_values !== null)) {
      const message = 'enum_values belongs to type ENUM, and type ENUM needs it.'
      throw new AppError('INVALID_FIELD', message, { field: 'enum_values' })
    }
    if (row.meter_value_calculation_id !== null) await checkMeasure(uow, row, row.meter_value_calculation_id)
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('allowance'),
      name: seed.unique('Allowance'),
      type: 'NUMBER',
      meter_value_calculation_id: (await seed.make(meterValueCalculationResource)).id,
    }),
    update: { description: 'What a plan includes.' },
  },
})

/** Throws INVALID_FIELD unless the calculation yields what the feature grants: numbers of a NUMBER, money of an AMOUNT. */
async function checkMeasure(uow: Uow, { type }: Feature, calculationId: string): Promise<void> {
  if (type !== 'NUMBER' && type !== 'AMOUNT') {
    const message = `A feature of type ${type} has no use to measure; only NUMBER and AMOUNT take a calculation.`
    throw new AppError('INVALID_FIELD', message, { field: CALCULATION })
  }
  const calculation = await getOne(uow, meterValueCalculationResource, calculationId)
  const valueId = calculation.meter_value_id
  // A count of distinct values is a number.
  const measured = valueId === null ? 'NUMBER' : (await getOne(uow, meterValueResource, valueId)).type
  if (measured === type) return
  const message = `The calculation ${calculation.reference} yields a value of type ${measured}, and the feature is of type ${type}.`
  throw new AppError('INVALID_FIELD', message, { field: CALCULATION })
}
