// Variables that conditions name stay. Conditions stand inside other things, without foreign keys.
import type { PgColumn } from 'drizzle-orm/pg-core'
import { containingAt, type Guard, type Naming, namedBy } from '../../../resource/rules.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'

/** For whatever has conditions in a column, at any depth, since they nest. */
export const conditionsIn = (column: PgColumn, by: Pick<Naming, 'table' | 'noun'>): Guard =>
  namedBy(meterPropertyVariableResource, {
    ...by,
    names: containingAt(column, '$.**.meter_property_variable_id'),
  })
