// Who may do everything in a tenant. At least one must remain: no one could give the right back otherwise.
import { sql } from 'drizzle-orm'
import { permissionsOf, type Role } from '../../../../shared/access/roles.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { loadRoles, lockAccounts, toRole } from './load-roles.ts'

type Member = { readonly user_id: string; readonly role_ids: readonly string[] }

/**
 * Those who can act now, with the roles that are theirs until an administrator takes them away: a time in a team that is to end would leave
 * the tenant without an administrator by itself.
 */
async function lastingMembers(uow: ReadUow): Promise<Member[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ user_id: string; role_ids: string[] }>(sql`
    select m.user_id, array(select unnest(m.role_ids) union select unnest(t.role_ids) from team_members tm
        join teams t on t.platform_id = tm.platform_id and t.environment = tm.environment and t.id = tm.team_id
        where tm.platform_id = m.platform_id and tm.environment = m.environment and tm.user_id = m.user_id
          and tm.start_at <= identity_now() and tm.end_at is null) as role_ids
    from user_memberships m join users u on u.id = m.user_id
    where m.platform_id = ${platformId} and m.environment = ${environment} and m.status = 'ACTIVE' and u.status = 'ACTIVE'`)
  return rows
}

const countAdministrators = (
  members: readonly Member[],
  roles: readonly Role[],
  declared: DeclaredPermissions,
): number =>
  members.filter(member => {
    const permissions = permissionsOf(member.role_ids, roles)
    return [...declared].every(permission => permissions.allows(permission))
  }).length

/** Whether some user administers this tenant; it stays so until the caller's unit of work is over. */
export async function hasAdministrator(uow: Uow, declared: DeclaredPermissions): Promise<boolean> {
  await lockAccounts(uow)
  return countAdministrators(await lastingMembers(uow), (await loadRoles(uow)).map(toRole), declared) > 0
}

const nobodyLeft = (): AppError =>
  new AppError(
    'INVALID_OPERATION',
    'Nobody would be left who administers this platform; make another user an administrator first.',
  )

/** Runs a change of who may do what. Throws INVALID_OPERATION when it leaves no administrator where there was one. */
export async function keepAnAdministrator<T>(
  uow: Uow,
  declared: DeclaredPermissions,
  change: () => Promise<T>,
): Promise<T> {
  await lockAccounts(uow)
  const count = async () => countAdministrators(await lastingMembers(uow), (await loadRoles(uow)).map(toRole), declared)
  const before = await count()
  const result = await change()
  if (before > 0 && (await count()) === 0) throw nobodyLeft()
  return result
}

/** As `keepAnAdministrator`, for one role that has been changed from `previous`. */
export async function checkAdministratorLeft(uow: Uow, declared: DeclaredPermissions, previous: Role): Promise<void> {
  const members = await lastingMembers(uow)
  const after = (await loadRoles(uow)).map(toRole)
  const before = after.map(role => (role.id === previous.id ? previous : role))
  if (countAdministrators(members, before, declared) > 0 && countAdministrators(members, after, declared) === 0)
    throw nobodyLeft()
}
