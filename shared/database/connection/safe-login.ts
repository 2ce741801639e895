// What a process may not log in as.
import type pg from 'pg'
import type { DatabaseRole } from './pool.ts'

/**
 * Asks about the login and not about the role it has taken on, which `set role none` would put off: it must be `role` itself,
 * own nothing, bypass nothing, make no roles or databases, and be a member of no other role.
 */
export async function refuseUnsafeLogin(pool: pg.Pool, role: DatabaseRole): Promise<void> {
  const { rows } = await pool.query<{ login: string; safe: boolean }>(
    `select session_user as login,
       not (r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication)
       and not exists (select from pg_auth_members where member = r.oid)
       and not exists (select from pg_shdepend
         where refclassid = 'pg_authid'::regclass and refobjid = r.oid and deptype = 'o') as safe
     from pg_roles r where r.rolname = session_user`,
  )
  const login = rows[0]?.login ?? 'nobody'
  const see = 'See docs/operating.md, PostgreSQL.'
  if (login !== role) throw new Error(`This process logs in to PostgreSQL as ${role}, not as ${login}. ${see}`)
  if (rows[0]?.safe !== true)
    throw new Error(
      `The PostgreSQL login ${role} owns objects, has special rights or is a member of another role. ${see}`,
    )
}
