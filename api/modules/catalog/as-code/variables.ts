// Meter property variables in the catalog file: each with its values, which the api has on calls of their own. Only what has a
// reference can be named on another platform.
import Type, { type Static } from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Row, StoredRow } from '../../../resource/define-resource.ts'
import { IdText, Optional, Reference, Shape } from '../../../resource/shapes.ts'
import { changeValues } from '../meter-property-variables/change-values.ts'
import { saveVariable } from '../meter-property-variables/create-variable.ts'
import { valuesOfVariables } from '../meter-property-variables/list-values.ts'
import { VALUES_MAX } from '../meter-property-variables/variable-values.ts'

/** The section of the file. */
export const VARIABLES = 'meter_property_variables'
/** What an entry has of a row. */
export const VARIABLE_FIELDS = ['reference', 'meter_property_id', 'values']

/** An entry, with the id of its property. */
export const VariableEntry = Shape({
  reference: Reference,
  meter_property_id: IdText('meter property'),
  values: Optional(Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), { maxItems: VALUES_MAX })),
})

/** The same rows with the values of the variables that a file can name. */
export async function withValues(uow: ReadUow, rows: readonly StoredRow[]): Promise<StoredRow[]> {
  const named = rows.flatMap(row => ((row as Row)['reference'] ? [row.id] : []))
  const values = await valuesOfVariables(uow, named)
  return rows.map(row => ({ ...row, values: (values.get(row.id) ?? []).toSorted() }))
}

/** Values have no order, so an entry has them sorted and each once. */
export function withSortedValues<E extends Row>(section: string, entry: E): E {
  const { values } = entry
  return section === VARIABLES && Array.isArray(values) ? { ...entry, values: [...new Set(values)].sort() } : entry
}

/** Makes the variable, or changes its values to those of the file. Throws INVALID_FIELD for another property. */
export async function applyVariable(
  uow: Uow,
  row: StoredRow | undefined,
  { values, ...body }: Static<typeof VariableEntry>,
): Promise<StoredRow> {
  if (!row) return await saveVariable(uow, { ...body, values: values ?? [] })
  const stored = row as StoredRow & { readonly meter_property_id: string; readonly values: readonly string[] }
  if (stored.meter_property_id !== body.meter_property_id) {
    throw new AppError(
      'INVALID_FIELD',
      'The property of a variable cannot change; create a variable of the other property.',
      {
        field: 'meter_property_id',
      },
    )
  }
  if (!values) return row
  const [before, after] = [new Set(stored.values), new Set(values)]
  const add = values.filter(value => !before.has(value))
  const remove = stored.values.filter(value => !after.has(value))
  if (add.length + remove.length > 0) await changeValues(uow, row.id, { add, remove })
  return row
}
