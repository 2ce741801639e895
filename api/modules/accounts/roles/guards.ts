// What a role may say, who may say it, and what stays while others have it.
import { arrayContains } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { afterSave, beforeDelete, beforeSave, type Installation, namedBy } from '../../../resource/rules.ts'
import { checkAdministratorLeft } from './administrators.ts'
import { checkRoleIds, loadRoles, lockAccounts, toRole } from './load-roles.ts'
import { requirePermissionsOver } from './require-permissions.ts'
import { roleResource } from './role.ts'
import { checkChildren, checkPermissions } from './role-rules.ts'
import { type RoleRow, roles } from './table.ts'

const ROLES_MAX = 500

/** The role as it would be saved; one that is new has an id nobody names. */
const asSaved = (row: RoleRow) => toRole({ ...row, id: row.id ?? '' })

async function checkRole(uow: Uow, row: RoleRow, previous: RoleRow | null, here: Installation): Promise<void> {
  await lockAccounts(uow)
  const stored = (await loadRoles(uow)).map(toRole)
  if (previous === null && stored.length >= ROLES_MAX) {
    throw new AppError('INVALID_OPERATION', `There are ${ROLES_MAX} roles, which is the maximum; delete one first.`)
  }
  checkPermissions(row.permissions, here.permissions)
  checkRoleIds(row.child_role_ids, stored, 'child_role_ids')
  const saved = asSaved(row)
  const others = stored.filter(role => role.id !== saved.id)
  checkChildren(saved, others)
  await requirePermissionsOver(uow, here.permissions, [saved.id], [...others, saved])
  if (previous) await requirePermissionsOver(uow, here.permissions, [previous.id], stored)
}

export const ROLE_GUARDS = [
  beforeSave(roleResource, checkRole),
  // The first of those that judge a deletion: what names the role is looked for while accounts stand still.
  beforeDelete(roleResource, lockAccounts),
  namedBy(roleResource, { table: roles, noun: 'role', names: id => arrayContains(roles.child_role_ids, [id]) }),
] as const

export const ROLE_EFFECTS = [
  afterSave(roleResource, async (uow, _row, previous, { permissions }) => {
    if (previous) await checkAdministratorLeft(uow, permissions, toRole(previous))
  }),
] as const
