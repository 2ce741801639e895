// Where a user is a member, and what they may do there now: their own roles and those of their teams.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../database/database.ts'
import type { Environment } from '../tenant.ts'
import { type Permissions, permissionsOf } from './roles.ts'

export type Membership = {
  readonly platformId: string
  readonly environment: Environment
  readonly platformName: string
  readonly permissions: Permissions
}

type Row = {
  platform_id: string
  environment: Environment
  platform_name: string
  role_ids: string[]
  roles: { id: string; permissions: string[]; childRoleIds: string[] }[]
}

/**
 * Every ACTIVE membership of an ACTIVE user, by platform name with LIVE first; none for anybody else. Roles of a team count
 * while the user is in it, by the database's clock. A transaction that may look across tenants sees all of them, that of one
 * tenant its own.
 */
export async function membershipsOf(tx: SystemTransaction, userId: string): Promise<Membership[]> {
  const { rows } = await tx.execute<Row>(sql`
    select m.platform_id, m.environment, p.name as platform_name,
      array(select unnest(m.role_ids) union select unnest(t.role_ids) from team_members tm
        join teams t on t.platform_id = tm.platform_id and t.environment = tm.environment and t.id = tm.team_id
        where tm.platform_id = m.platform_id and tm.environment = m.environment and tm.user_id = m.user_id
          and tm.start_at <= identity_now() and (tm.end_at is null or identity_now() < tm.end_at)) as role_ids,
      coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'permissions', r.permissions, 'childRoleIds', r.child_role_ids))
        from roles r where r.platform_id = m.platform_id and r.environment = m.environment), '[]') as roles
    from user_memberships m
    join users u on u.id = m.user_id and u.status = 'ACTIVE'
    join platforms p on p.platform_id = m.platform_id and p.environment = m.environment
    where m.user_id = ${userId} and m.status = 'ACTIVE'
    order by p.name, m.environment, m.platform_id`)
  return rows.map(row => ({
    platformId: row.platform_id,
    environment: row.environment,
    platformName: row.platform_name,
    permissions: permissionsOf(row.role_ids, row.roles),
  }))
}
