// Texts as an array parameter of PostgreSQL.
import { sql } from 'drizzle-orm'

/** `values` as text[]. There must be at least one. */
export const textArray = (values: readonly string[]) =>
  sql`array[${sql.join(
    values.map(value => sql`${value}`),
    sql`, `,
  )}]::text[]`
