// Which types of events a webhook gets (contract: Events).
import { type SQL, sql } from 'drizzle-orm'

/** Included types alone, when there are any; otherwise all that are not excluded. Names match exactly. */
export const selectsSql = (of: { readonly included: SQL; readonly excluded: SQL; readonly type: SQL }): SQL =>
  sql`(case when cardinality(${of.included}) > 0 then ${of.type} = any(${of.included}) else ${of.type} <> all(${of.excluded}) end)`
