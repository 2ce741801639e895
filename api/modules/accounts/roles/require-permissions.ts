// Nobody gives, or takes away, more than they have: otherwise who may invite a user could make themselves administrator.
import { membershipsOf } from '../../../../shared/access/memberships.ts'
import { type Permissions, permissionsOf, type Role } from '../../../../shared/access/roles.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'

/** A user may what their roles say at this moment, in this transaction; a key what it may; the service itself everything. */
async function permissionsOfActor(uow: Uow): Promise<Permissions> {
  const { id, may } = uow.actor
  if (!id?.startsWith('user_')) return { allows: may ?? (() => true) }
  const [membership] = await membershipsOf(uow.tx, id)
  return membership?.permissions ?? { allows: () => false }
}

/** Whether the caller may do everything that any route does, in this tenant. */
export async function hasEveryPermission(uow: Uow, declared: DeclaredPermissions): Promise<boolean> {
  const own = await permissionsOfActor(uow)
  return [...declared].every(permission => own.allows(permission))
}

/** Throws USER_NOT_ALLOWED when these roles together allow something that the caller is not allowed. */
export async function requirePermissionsOver(
  uow: Uow,
  declared: DeclaredPermissions,
  roleIds: readonly string[],
  stored: readonly Role[],
): Promise<void> {
  const own = await permissionsOfActor(uow)
  const given = permissionsOf(roleIds, stored)
  const missing = [...declared].find(permission => given.allows(permission) && !own.allows(permission))
  if (missing === undefined) return
  throw new AppError('USER_NOT_ALLOWED', `You cannot give or take away ${missing}, which you do not have yourself.`)
}
