// What a body makes of a row.
import { isDeepStrictEqual } from 'node:util'
import type { Resource, Row, StoredRow } from '../define-resource.ts'
import { memberOf } from '../rows/row-members.ts'

/** A body without its nulls, which count as left out. */
export const withoutNulls = (body: object): Row =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

/** RFC 7386: objects merge, everything else replaces; a null member is removed. */
export function mergePatch(target: object, patch: Row): Row {
  const merged: Row = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    const before = merged[name]
    merged[name] = isPlainObject(value) ? withoutNulls(mergePatch(isPlainObject(before) ? before : {}, value)) : value
  }
  return merged
}

const isPlainObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The columns in which a row that was prepared to be saved is another one than the row that is stored. */
export function changedColumns(resource: Resource, previous: StoredRow, next: StoredRow): string[] {
  return Object.keys(next).filter(
    name => name in resource.table && !isDeepStrictEqual(memberOf(next, name), memberOf(previous, name)),
  )
}
