// What a user may do now, in every tenant: read when it is first needed, forgotten when a membership, role or user changes.
import { type Membership, membershipsOf } from '../../shared/access/memberships.ts'
import type { Permissions } from '../../shared/access/roles.ts'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { listen } from '../../shared/database/listen.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { Tenant } from '../../shared/tenant.ts'

export type PermissionCache = {
  /** What the user may do in this tenant, or null when they are no member of it, or not ACTIVE. */
  permissionsOf(userId: string, tenant: Tenant): Promise<Permissions | null>
  close(): Promise<void>
}

/** A change that was never announced takes effect after this long. */
const REMEMBERED_MS = 3_000
const REMEMBERED_MAX = 10_000
const TABLES: ReadonlySet<string> = new Set(['users', 'user_memberships', 'roles', 'teams', 'team_members'])

/** Follows memberships. The database's role is the one that reads keys. */
export function createPermissionCache(options: {
  readonly database: Database
  readonly logger: Logger
  readonly nowMs: () => number
}): PermissionCache {
  const { database, logger, nowMs } = options
  const known = new Map<string, { readonly memberships: Promise<Membership[]>; readonly until: number }>()
  const forget = (): void => known.clear()
  const listener = listen(database, 'millrace_changes', {
    onMessage: table => {
      if (TABLES.has(table)) forget()
    },
    onConnect: forget,
    logger,
  })
  const read = (userId: string): Promise<Membership[]> => {
    const found = known.get(userId)
    if (found && found.until > nowMs()) return found.memberships
    if (known.size >= REMEMBERED_MAX) known.clear()
    const memberships = asSystem(database, 'load-memberships', tx => membershipsOf(tx, userId))
    known.set(userId, { memberships, until: nowMs() + REMEMBERED_MS })
    memberships.catch(() => known.delete(userId))
    return memberships
  }
  return {
    permissionsOf: async (userId, { platformId, environment }) => {
      const memberships = await read(userId)
      return (
        memberships.find(each => each.platformId === platformId && each.environment === environment)?.permissions ??
        null
      )
    },
    close: () => listener.close(),
  }
}
