// A condition on many values at once.
import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * That a column of text holds one of these values; of none, no row does. One parameter whatever their number, so that the statement is the
 * same for each, and neither this process nor PostgreSQL reads a list of hundreds.
 */
export const anyOf = <Column extends PgColumn>(column: Column, values: Iterable<Column['_']['data']>): SQL =>
  sql`${column} = any(${sql.param([...values])})`
