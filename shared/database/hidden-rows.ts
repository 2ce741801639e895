// Forced row-level security hides every row from the owner of a table too, unless that login is a superuser or bypasses it. A managed
// PostgreSQL has no such login, and a migration would then change no row and report nothing.
import type pg from 'pg'

/** What changes rows; also in the body of a function, which costs nothing but time. */
const CHANGES_ROWS = /(^|;)\s*(insert|update|delete|merge|with|do|select|truncate|copy)\b/im
const PROTECTED = /^call protect_tenant_table\('(\w+)'\);$/gm

/** Whether row-level security binds the login of `client`. */
export async function isBoundByRowSecurity(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ bound: boolean }>(
    'select not (rolsuper or rolbypassrls) as bound from pg_roles where rolname = current_user',
  )
  return rows[0]?.bound ?? true
}

/**
 * Runs a migration. One that changes rows sees those of every tenant in the tables that it names or makes. Needs the caller's transaction, and the owner of
 * the tables: no other session ever meets a table without its protection.
 */
export async function runWithAllRows(client: pg.Client, sql: string): Promise<void> {
  if (!CHANGES_ROWS.test(sql)) return void (await client.query(sql))
  const words = new Set(sql.match(/\w+/g))
  const named = (await tables(client, 'relforcerowsecurity')).filter(({ relname }) => words.has(relname))
  await client.query(named.map(({ relname }) => `alter table ${relname} no force row level security;`).join('\n'))
  await client.query(sql.replaceAll(PROTECTED, '$&\nalter table $1 no force row level security;'))
  // A table with deferred checks still to come cannot be altered.
  await client.query('set constraints all immediate')
  const lifted = await tables(
    client,
    `not relforcerowsecurity and (oid = any($1)
       or exists (select from pg_policy where polrelid = pg_class.oid and polname = 'tenant'))`,
    [named.map(({ oid }) => oid)],
  )
  await client.query(lifted.map(({ relname }) => `alter table ${relname} force row level security;`).join('\n'))
}

async function tables(
  client: pg.Client,
  condition: string,
  values: readonly unknown[] = [],
): Promise<{ oid: number; relname: string }[]> {
  const { rows } = await client.query<{ oid: number; relname: string }>(
    `select oid, relname from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and ${condition}`,
    [...values],
  )
  return rows
}
