// Where a user is a member, and what they may do there now: their own roles and those of their teams.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../database/database.ts'
import type { Environment } from '../tenant.ts'
import { type Power, powerOf } from './roles.ts'

export type Membership = {
  readonly platformId: string
  readonly environment: Environment
  readonly platformName: string
  readonly power: Power
}

type Row = {
  platform_id: string
  environment: Environment
  platform_name: string
  role_ids: string[]
  roles: { id: string; permissions: string[]; childRoleIds: string[] }[]
}

/**
 * Every membership of an ACTIVE user, by platform name with LIVE first; none for anybody else. The transaction must be one
 * that may look across tenants.
 */
export async function membershipsOf(tx: SystemTransaction, userId: string): Promise<Membership[]> {
  const { rows } = await tx.execute<Row>(sql`
    select m.platform_id, m.environment, p.name as platform_name, m.role_ids,
      coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'permissions', r.permissions, 'childRoleIds', r.child_role_ids))
        from roles r where r.platform_id = m.platform_id and r.environment = m.environment), '[]') as roles
    from user_memberships m
    join users u on u.id = m.user_id and u.status = 'ACTIVE'
    join platforms p on p.platform_id = m.platform_id and p.environment = m.environment
    where m.user_id = ${userId}
    order by p.name, m.environment, m.platform_id`)
  return rows.map(row => ({
    platformId: row.platform_id,
    environment: row.environment,
    platformName: row.platform_name,
    power: powerOf(row.role_ids, row.roles),
  }))
}
