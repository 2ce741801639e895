// Rows that no call shows or finds, such as the plans behind the prices of a schedule.
import { eq, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** A table with such rows marks them; of other tables all rows are listed. */
type WithUnlisted = { readonly unlisted?: PgColumn }

/** Of a table that has rows which no call shows: the condition that leaves those out; undefined for any other. */
export const isListed = (table: object): SQL | undefined => {
  const { unlisted } = table as WithUnlisted
  return unlisted ? eq(unlisted, false) : undefined
}
