// What makes a role a right one. Pure.
import { BUILT_IN_ROLES, matchesPermission, ROLE_DEPTH_MAX, type Role } from '../../../../shared/access/roles.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'

/** Throws INVALID_FIELD for an entry that stands for no permission of the api: it would silently allow nothing. */
export function checkPermissions(entries: readonly string[], declared: DeclaredPermissions): void {
  const index = entries.findIndex(entry => {
    const pattern = entry.startsWith('-') ? entry.slice(1) : entry
    return ![...declared].some(permission => matchesPermission(pattern, permission))
  })
  if (index < 0) return
  const field = `permissions.${index}`
  const message = `${field} stands for no permission. GET /v1/permissions lists them; *, *.VIEW and INVOICE.* stand for several, and a leading - takes away.`
  throw new AppError('INVALID_FIELD', message, { field })
}

/**
 * Throws INVALID_FIELD when `role`, as it would be saved, contains itself, or when somewhere a role would have children more
 * than ROLE_DEPTH_MAX deep: deeper ones would silently not count (semantics 9.4).
 */
export function checkChildren(role: Role, others: readonly Role[]): void {
  const byId = new Map([...BUILT_IN_ROLES, ...others, role].map(each => [each.id, each]))
  const parentsOf = new Map<string, string[]>()
  for (const { id, childRoleIds } of byId.values())
    for (const child of childRoleIds) parentsOf.set(child, [...(parentsOf.get(child) ?? []), id])
  const above = levelsFrom(role.id, id => parentsOf.get(id) ?? []).length
  role.childRoleIds.forEach((id, index) => {
    const field = `child_role_ids.${index}`
    const below = levelsFrom(id, each => byId.get(each)?.childRoleIds ?? [])
    if (id === role.id || below.some(level => level.has(role.id))) {
      throw new AppError('INVALID_FIELD', `${field}: a role cannot contain itself.`, { field })
    }
    if (above + 1 + below.length > ROLE_DEPTH_MAX) {
      const message = `${field}: a role has children and grandchildren at most, counted from the roles that contain it.`
      throw new AppError('INVALID_FIELD', message, { field })
    }
  })
}

/** Nothing that was saved is deeper than ROLE_DEPTH_MAX, so a walk that goes further has met a circle, and ends. */
const WALK_MAX = ROLE_DEPTH_MAX + 1

/** What is one step from `id`, then two, until nothing is. */
function levelsFrom(id: string, next: (id: string) => readonly string[]): ReadonlySet<string>[] {
  const levels: ReadonlySet<string>[] = []
  for (
    let level = new Set(next(id));
    level.size > 0 && levels.length < WALK_MAX;
    level = new Set([...level].flatMap(next))
  )
    levels.push(level)
  return levels
}
