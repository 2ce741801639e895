// Creates a variable with its first values.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { saveNew } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { findOne, notFound, requireAll } from '../../../resource/store.ts'
import { viewOf } from '../../../resource/views.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import type { MeterProperty } from '../meters/table.ts'
import { changeOf, insertValues } from './change-values.ts'
import type { MeterPropertyVariable } from './table.ts'
import { meterPropertyVariableResource } from './variable.ts'
import { canonicalValues, refuseTooMany } from './variable-values.ts'

export type NewVariable = {
  readonly reference?: string | null | undefined
  readonly meter_property_id?: string | null | undefined
  readonly meter_property_reference?: string | null | undefined
  readonly values?: readonly string[] | null | undefined
}

/**
 * The view of a new variable of the property named by exactly one of id and reference. Throws MISSING_FIELD, INVALID_FIELD or
 * RESOURCE_NOT_FOUND with the field. Emits CREATED. (contract: POST /v1/meter-property-variables)
 */
export async function createVariable(uow: Uow, body: NewVariable): Promise<Row> {
  return await viewOf(uow, meterPropertyVariableResource, await saveVariable(uow, body))
}

/** The same, and gives the row. */
export async function saveVariable(uow: Uow, body: NewVariable): Promise<MeterPropertyVariable> {
  const property = await propertyOf(uow, body)
  const values = canonicalValues(property, body.values ?? [], 'values')
  refuseTooMany(values.length, 'values')
  const row = await saveNew(uow, meterPropertyVariableResource, {
    reference: body.reference ?? null,
    meter_property_id: property.id,
    value_count: values.length,
  })
  await insertValues(uow, row.id, values, changeOf(values, []))
  return row
}

async function propertyOf(uow: Uow, body: NewVariable): Promise<MeterProperty> {
  const { meter_property_id: id, meter_property_reference: reference } = body
  if (id && reference) {
    throw new AppError('INVALID_FIELD', 'Name the property by its id or by its reference, not both.', {
      field: 'meter_property_reference',
    })
  }
  const field = id ? 'meter_property_id' : 'meter_property_reference'
  const given = id ?? reference
  if (!given)
    throw new AppError('MISSING_FIELD', 'Name the meter property the values are of.', { field: 'meter_property_id' })
  const found = await findOne(uow, meterPropertyResource, given)
  // An id is requested by its field: a reference in it would name the property by accident.
  if (!found || found[id ? 'id' : 'reference'] !== given) throw notFound(meterPropertyResource, given, field)
  await requireAll(uow, meterPropertyResource, [{ id: found.id, field }])
  return found as MeterProperty
}
