// Clients: those that registered, and those whose id is the address of a document, as it was last read. Anybody may be either, so
// a client is a name nobody verified and the addresses it gave; of the second kind the host is proven as well.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import { LIFETIMES } from '../grants/decide.ts'
import { textArray } from './text-array.ts'

export type Client = {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** Seconds since 1970. */
  readonly createdAt: number
  /** Null for one that registered. */
  readonly document: {
    /** What its server calls this version of it. */
    readonly etag: string | null
    /** It need not be read again yet. */
    readonly isRecentlyAuthenticated: boolean
    /** It was read within the last day. */
    readonly isOfToday: boolean
  } | null
}

type Row = {
  id: string
  name: string
  redirect_uris: string[]
  created_at: number
  etag: string | null
  is_fresh: boolean | null
  is_of_today: boolean
}
const COLUMNS = sql`id, name, redirect_uris, floor(extract(epoch from created_at))::int as created_at,
  document_etag as etag, document_fresh_until > identity_now() as is_fresh,
  coalesce(document_read_at > identity_now() - interval '1 day', false) as is_of_today`
const toClient = (row: Row): Client => ({
  id: row.id,
  name: row.name,
  redirectUris: row.redirect_uris,
  createdAt: row.created_at,
  document:
    row.is_fresh === null
      ? null
      : { etag: row.etag, isRecentlyAuthenticated: row.is_fresh, isOfToday: row.is_of_today },
})

/** Registers a client under a new id. */
export async function insertClient(
  tx: SystemTransaction,
  name: string,
  redirectUris: readonly string[],
): Promise<Client> {
  const { rows } = await tx.execute<Row>(sql`
    insert into oauth_clients (id, name, redirect_uris)
    values (${newId('clnt')}, ${name}, ${textArray(redirectUris)})
    returning ${COLUMNS}`)
  const [row] = rows
  if (!row) throw new Error('the client was not stored')
  return toClient(row)
}

/** Saves what was just read at the address that is a client's id, in place of what was read there before. */
export async function saveClientDocument(
  tx: SystemTransaction,
  id: string,
  read: {
    readonly name: string
    readonly redirectUris: readonly string[]
    readonly etag: string | null
    readonly maxAgeSeconds: number
  },
): Promise<Client | null> {
  const { rows } = await tx.execute<Row>(sql`
    insert into oauth_clients (id, name, redirect_uris, document_etag, document_read_at, document_fresh_until)
    values (${id}, ${read.name}, ${textArray(read.redirectUris)}, ${read.etag}, identity_now(), ${inSeconds(read.maxAgeSeconds)})
    on conflict (id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
      document_etag = excluded.document_etag, document_read_at = excluded.document_read_at,
      document_fresh_until = excluded.document_fresh_until
    returning ${COLUMNS}`)
  return rows[0] ? toClient(rows[0]) : null
}

/** The document has not changed since it was read, so it is fresh for longer. Null when it is not kept any more. */
export async function extendClientDocument(
  tx: SystemTransaction,
  id: string,
  maxAgeSeconds: number,
): Promise<Client | null> {
  const { rows } = await tx.execute<Row>(sql`
    update oauth_clients set document_read_at = identity_now(), document_fresh_until = ${inSeconds(maxAgeSeconds)}
    where id = ${id} returning ${COLUMNS}`)
  return rows[0] ? toClient(rows[0]) : null
}

const inSeconds = (seconds: number) => sql`identity_now() + make_interval(secs => ${seconds})`

/** The client with this id, or null. */
export async function findClient(tx: SystemTransaction, id: string): Promise<Client | null> {
  const { rows } = await tx.execute<Row>(sql`select ${COLUMNS} from oauth_clients where id = ${id}`)
  return rows[0] ? toClient(rows[0]) : null
}

/** Documents of clients without a grant that are kept, whatever is read. */
const UNUSED_DOCUMENTS_MAX = 10_000

/**
 * Forgets clients that registered a month ago and never got a grant; their next token call tells them to register again.
 * Documents without a grant go after a day, or sooner when there are very many: they can be read again. None goes while a
 * request that began with it can be open.
 */
export const removeUnusedClients = async (tx: SystemTransaction): Promise<void> => {
  const unused = sql`not exists (select from oauth_grants g where g.client_id = c.id)`
  await tx.execute(sql`
    delete from oauth_clients c where document_read_at is null and created_at < identity_now() - interval '30 days' and ${unused}`)
  await tx.execute(sql`
    delete from oauth_clients c where document_read_at < identity_now() - interval '1 day' and ${unused}`)
  await tx.execute(sql`
    delete from oauth_clients where id in (
      select id from oauth_clients c where document_read_at is not null and ${unused}
      order by document_read_at desc offset ${UNUSED_DOCUMENTS_MAX})
      and document_read_at < identity_now() - make_interval(secs => ${LIFETIMES.request})`)
}
