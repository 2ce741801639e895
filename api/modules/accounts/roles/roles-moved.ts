// Roles that a member or a team is given or loses.
import type { Uow } from '../../../../shared/database/database.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { checkRoleIds, loadRoles, toRole } from './load-roles.ts'
import { requirePermissionsOver } from './require-permissions.ts'

/** The rules that need every declared permission. */
export type AccountRules = { readonly declared: DeclaredPermissions }

/** Checks roles that are to be given, and that the caller who gives or takes them has them. */
export async function checkRolesMoved(
  uow: Uow,
  { declared }: AccountRules,
  moved: { readonly given: readonly string[]; readonly taken?: readonly string[]; readonly field: string },
): Promise<void> {
  const stored = (await loadRoles(uow)).map(toRole)
  checkRoleIds(moved.given, stored, moved.field)
  await requirePermissionsOver(uow, declared, [...moved.given, ...(moved.taken ?? [])], stored)
}
