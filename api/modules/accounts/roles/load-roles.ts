// The roles of a tenant, whole: there are few, and what any one allows depends on the others.
import { asc, sql } from 'drizzle-orm'
import { BUILT_IN_ROLES, type Role } from '../../../../shared/access/roles.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type RoleRow, roles } from './table.ts'

/** The tenant's own roles by name; the built-in ones are not among them. */
export const loadRoles = (uow: ReadUow): Promise<RoleRow[]> =>
  uow.tx.select().from(roles).where(inThisTenant(uow, roles)).orderBy(asc(roles.name), asc(roles.id))

/** As the permissions of a set of roles are computed from them. */
export const toRole = (row: RoleRow): Role => ({
  id: row.id,
  permissions: row.permissions,
  childRoleIds: row.child_role_ids,
})

/**
 * Until the transaction ends, nobody else changes who may do what in this tenant. Rules about roles and administrators look at
 * many rows, and two changes that are right each alone may be wrong together.
 */
export async function lockAccounts(uow: Uow): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(
    sql`select from platforms where platform_id = ${platformId} and environment = ${environment} for no key update`,
  )
}

/** Throws RESOURCE_NOT_FOUND with the position of the first id that is no role of this tenant. */
export function checkRoleIds(ids: readonly string[], stored: readonly { readonly id: string }[], field: string): void {
  const known = new Set([...BUILT_IN_ROLES, ...stored].map(role => role.id))
  const index = ids.findIndex(id => !known.has(id))
  if (index < 0) return
  throw new AppError('RESOURCE_NOT_FOUND', `There is no ROLE ${JSON.stringify(ids[index])}.`, {
    field: `${field}.${index}`,
    resourceType: 'ROLE',
  })
}
