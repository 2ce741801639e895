// What roles allow. A role is a set of permissions `<RESOURCE>.<ACTION>`; a pattern may stand for several: `*`, `*.VIEW`,
// `INVOICE.*`. Pure.

/** A role as it is stored, or built in. */
export type Role = {
  readonly id: string
  readonly permissions: readonly string[]
  readonly childRoleIds: readonly string[]
}
export type BuiltInRole = Role & { readonly name: string; readonly description: string }

/** Three levels that every tenant has, without rows of their own (semantics 9.4). */
export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  {
    id: 'role_administrator',
    name: 'Administrator',
    description: 'Everything, users, roles and API keys included.',
    permissions: ['*'],
    childRoleIds: [],
  },
  {
    id: 'role_contributor',
    name: 'Contributor',
    description: 'Sees everything and changes everything but users, roles, teams and API keys.',
    permissions: [
      '*',
      '-USER.*',
      '-ROLE.*',
      '-TEAM.*',
      '-API_KEY.*',
      'USER.VIEW',
      'ROLE.VIEW',
      'TEAM.VIEW',
      'API_KEY.VIEW',
    ],
    childRoleIds: [],
  },
  {
    id: 'role_viewer',
    name: 'Viewer',
    description: 'Sees everything, changes nothing.',
    permissions: ['*.VIEW'],
    childRoleIds: [],
  },
]

/** A role's children may have children, and no more (semantics 9.4). */
export const ROLE_DEPTH_MAX = 2

/** What a set of roles allows together. */
export type Permissions = { allows(permission: string): boolean }

/**
 * The permissions of these roles and their children. Each role allows what its own list says, later entries overruling earlier
 * ones; a child adds and never takes away. A role id that names nothing allows nothing.
 */
export function permissionsOf(roleIds: readonly string[], stored: readonly Role[]): Permissions {
  const byId = new Map<string, Role>([...BUILT_IN_ROLES, ...stored].map(role => [role.id, role]))
  const held = new Map<string, Role>()
  const take = (ids: readonly string[], depth: number): void => {
    for (const id of ids) {
      const role = byId.get(id)
      if (!role) continue
      held.set(id, role)
      if (depth < ROLE_DEPTH_MAX) take(role.childRoleIds, depth + 1)
    }
  }
  take(roleIds, 0)
  const lists = [...held.values()].map(role => role.permissions)
  return { allows: permission => lists.some(list => listAllows(list, permission)) }
}

function listAllows(list: readonly string[], permission: string): boolean {
  let allowed = false
  for (const entry of list) {
    const takesAway = entry.startsWith('-')
    if (matchesPermission(takesAway ? entry.slice(1) : entry, permission)) allowed = !takesAway
  }
  return allowed
}

/** Whether a pattern, without the `-` that takes away, stands for this permission. */
export function matchesPermission(pattern: string, permission: string): boolean {
  if (pattern === '*' || pattern === permission) return true
  if (pattern.startsWith('*.')) return permission.endsWith(pattern.slice(1))
  return pattern.endsWith('.*') && permission.startsWith(pattern.slice(0, -1))
}
