// Members of a row that are named at run time.
import type { Row, StoredRow } from '../define-resource.ts'

/** The member `name` of a row; undefined where it has none. */
export const memberOf = (row: object, name: string): unknown => (row as Row)[name]

/** The status of a row of a resource that has statuses. */
export const statusOf = (row: StoredRow): string => String(memberOf(row, 'status'))
