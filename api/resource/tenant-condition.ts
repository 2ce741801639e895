// The tenant condition of every query. A file of its own, so that the tenant tests can take it away and see that row-level
// security holds alone.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../shared/database/database.ts'

/** The condition every query of a tenant table starts with. */
export const inThisTenant = (uow: ReadUow, table: { platform_id: PgColumn; environment: PgColumn }): SQL =>
  sql`${table.platform_id} = ${uow.tenant.platformId} and ${table.environment} = ${uow.tenant.environment}`

/** The same in a question that is prepared once for all tenants: its values are `platform` and `environment`. */
export const inPlaceholders = (table: { platform_id: PgColumn; environment: PgColumn }): SQL | undefined =>
  and(eq(table.platform_id, sql.placeholder('platform')), eq(table.environment, sql.placeholder('environment')))
