// The users a key is to act for are members here.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'

/** Throws RESOURCE_NOT_FOUND with the place of the first user who is no member of this tenant, whether or not there is one. */
export async function requireMembers(uow: Uow, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return
  const { rows } = await uow.tx.execute<{ user_id: string }>(sql`
    select user_id from user_memberships
    where platform_id = ${uow.tenant.platformId} and environment = ${uow.tenant.environment} and user_id in ${userIds}`)
  const found = new Set(rows.map(row => row.user_id))
  const missing = userIds.findIndex(id => !found.has(id))
  if (missing === -1) return
  throw new AppError('RESOURCE_NOT_FOUND', `There is no USER ${JSON.stringify(userIds[missing])}.`, {
    field: `original_user_ids.${missing}`,
    resourceType: 'USER',
  })
}
