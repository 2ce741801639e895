// Which event types a webhook gets (contract: Events).
import { type SQL, sql } from 'drizzle-orm'

/** Only the included types, if there are any; otherwise all that are not excluded. Names match exactly. */
export const selectsSql = (of: { readonly included: SQL; readonly excluded: SQL; readonly type: SQL }): SQL =>
  sql`(case when cardinality(${of.included}) > 0 then ${of.type} = any(${of.included}) else ${of.type} <> all(${of.excluded}) end)`

/** Names as a PostgreSQL array. */
export const textArray = (names: readonly string[]): SQL =>
  sql`array(select jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))`

/**
 * Whether the change `o` was committed before the webhook of the queue `q` was created (`first`), or last created or switched on
 * (`active`). Only for changes after the position of the queue, which those before it have not reached.
 */
export const precedesSql = (since: 'first' | 'active', { o = 'o', q = 'q' } = {}): SQL =>
  sql.raw(`coalesce(${o}.seq <= ${q}.${since}_seq and pg_visible_in_snapshot(${o}.xid, ${q}.${since}_snapshot), false)`)

/** The same rule as `selectsSql`, for a type in memory. */
export const selects = (
  { included_actions, excluded_actions }: { included_actions: readonly string[]; excluded_actions: readonly string[] },
  type: string,
): boolean => (included_actions.length > 0 ? included_actions.includes(type) : !excluded_actions.includes(type))
