// The credit types that something else names, as it shows them.
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { Included } from '../../../resource/shapes.ts'
import { findMany } from '../../../resource/store.ts'
import { viewsOf } from '../../../resource/views.ts'
import { creditTypeResource } from './credit-type.ts'

/** The field `credit_types` of what shows them. */
export const CreditTypes = Type.Array(Included('CreditType'))

/** For each set of ids the credit types that they are of, in the order of their references. */
export async function creditTypesOf(uow: ReadUow, sets: readonly ReadonlySet<string>[]): Promise<Row[][]> {
  const rows = await findMany(uow, creditTypeResource, [...new Set(sets.flatMap(ids => [...ids]))])
  const views = rows.length === 0 ? [] : await viewsOf(uow, creditTypeResource, rows)
  const sorted = views.toSorted((a, b) => (String(a['reference']) < String(b['reference']) ? -1 : 1))
  return sets.map(ids => sorted.filter(({ id }) => ids.has(String(id))))
}

/** Every credit type that the JSON names, however deep. */
export function creditTypeIdsIn(json: unknown): Set<string> {
  const found = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (name === 'credit_type_id' && typeof member === 'string') found.add(member)
      else walk(member)
    }
  }
  walk(json)
  return found
}
