// Invoices by a part of their number. A million numbers take a second to compare, and an index of parts cannot be used under row-level
// security, so a function of the database looks by itself (see the migration 20261123T2311).
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'

/** Of more it is no use to know the ids: a page of the list meets enough of them soon. */
const FOUND_MAX = 10_000
/** What the index goes by. Shorter parts are in nearly every number. */
const GROUP = /[\p{L}\p{N}]{3}/u

/**
 * The ids of all invoices whose number matches a pattern of LIKE; null when it says too little to be looked for, or there are more than
 * FOUND_MAX.
 */
export async function invoicesByNumber(
  { tx }: ReadUow,
  { text, pattern, ignoreCase }: { readonly text: string; readonly pattern: string; readonly ignoreCase: boolean },
): Promise<string[] | null> {
  if (!GROUP.test(text)) return null
  const { rows } = await tx.execute<{ id: string }>(
    sql`select id from invoices_by_number(${pattern}, ${ignoreCase}, ${FOUND_MAX + 1}) as id`,
  )
  return rows.length > FOUND_MAX ? null : rows.map(({ id }) => id)
}
