// Registered clients. Anybody may register one, so a client is a name nobody verified and the addresses it gave.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'

export type Client = {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Seconds since 1970. */
  readonly createdAt: number
}

type Row = { id: string; name: string; redirect_uris: string[]; created_at: number }
const COLUMNS = sql`id, name, redirect_uris, floor(extract(epoch from created_at))::int as created_at`
const toClient = (row: Row): Client => ({
  id: row.id,
  name: row.name,
  redirectUris: row.redirect_uris,
  createdAt: row.created_at,
})

/** Registers a client under a new id. */
export async function insertClient(
  tx: SystemTransaction,
  name: string,
  redirectUris: readonly string[],
): Promise<Client> {
  const { rows } = await tx.execute<Row>(sql`
    insert into oauth_clients (id, name, redirect_uris)
    values (${newId('clnt')}, ${name}, ${sql`array[${sql.join(
      redirectUris.map(uri => sql`${uri}`),
      sql`, `,
    )}]::text[]`})
    returning ${COLUMNS}`)
  const [row] = rows
  if (!row) throw new Error('the client was not stored')
  return toClient(row)
}

/** The client with this id, or null. */
export async function findClient(tx: SystemTransaction, id: string): Promise<Client | null> {
  const { rows } = await tx.execute<Row>(sql`select ${COLUMNS} from oauth_clients where id = ${id}`)
  return rows[0] ? toClient(rows[0]) : null
}

/** Forgets clients that registered a month ago and never got a grant; their next token call tells them to register again. */
export const removeUnusedClients = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`
    delete from oauth_clients c where created_at < identity_now() - interval '30 days'
      and not exists (select from oauth_grants g where g.client_id = c.id)`)
}
