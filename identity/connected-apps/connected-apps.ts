// The applications a user has let in: what each may do, where, and the way to end it.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { hostOfClient } from '../client-documents/client-id-url.ts'
import { revokeGrant } from '../store/grants.ts'

export type ConnectedApp = {
  readonly grantId: string
  readonly clientName: string
  /** Where its document is, for a client that is known by one; null for one that registered. */
  readonly host: string | null
  /** Where its answers go. */
  readonly redirectUris: readonly string[]
  readonly scopes: readonly string[]
  /** `Name – ENVIRONMENT` of each platform it reaches. */
  readonly platforms: readonly string[]
  /** A day, as text. */
  readonly connectedOn: string
  /** A day and a time, as text. */
  readonly lastUsedAt: string | null
}

type Row = {
  id: string
  client_id: string
  name: string
  redirect_uris: string[]
  scopes: string[]
  platforms: string[] | null
  created: string
  used: string | null
}

/** The live grants of a user that became tokens, the newest first. */
export async function listConnectedApps(tx: SystemTransaction, userId: string): Promise<ConnectedApp[]> {
  const { rows } = await tx.execute<Row>(sql`
    select g.id, c.id as client_id, c.name, c.redirect_uris, g.scopes, to_char(g.created_at, 'YYYY-MM-DD') as created,
      to_char(g.last_used_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as used,
      (select array_agg(p.name || ' – ' || p.environment order by p.name, p.environment) from oauth_grant_platforms gp
        join platforms p on p.platform_id = gp.platform_id and p.environment = gp.environment where gp.grant_id = g.id) as platforms
    from oauth_grants g join oauth_clients c on c.id = g.client_id
    where g.user_id = ${userId} and g.revoked_at is null and g.expires_at > identity_now() and g.last_used_at is not null
    order by g.created_at desc, g.id`)
  return rows.map(row => ({
    grantId: row.id,
    clientName: row.name,
    host: hostOfClient(row.client_id),
    redirectUris: row.redirect_uris,
    scopes: row.scopes,
    platforms: row.platforms ?? [],
    connectedOn: row.created,
    lastUsedAt: row.used,
  }))
}

/** Ends a grant of this user; false when they have none of that id. */
export async function disconnect(
  tx: SystemTransaction,
  input: { readonly userId: string; readonly grantId: string; readonly requestId: string },
): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select 1 from oauth_grants where id = ${input.grantId} and user_id = ${input.userId} for update`,
  )
  if (rows.length === 0) return false
  return await revokeGrant(tx, input.grantId, 'USER', { requestId: input.requestId, actorId: input.userId })
}

/** Ends every live grant of a user; how many there were. */
export async function disconnectAll(
  tx: SystemTransaction,
  { userId, requestId }: { readonly userId: string; readonly requestId: string },
): Promise<number> {
  const { rows } = await tx.execute<{ id: string }>(
    sql`select id from oauth_grants where user_id = ${userId} and revoked_at is null order by id for update`,
  )
  for (const { id } of rows) await revokeGrant(tx, id, 'USER', { requestId, actorId: userId })
  return rows.length
}
