// Authorization requests. Every change is one conditional update, so that what expired, was answered, or belongs to another
// browser or user is simply not found.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import { matchesRedirectUri } from '../checks/redirect-uri.ts'
import type { Scope } from '../checks/scope.ts'
import { LIFETIMES } from '../grants/decide.ts'
import { textArray } from './text-array.ts'

export type NewRequest = {
  readonly clientId: string
  readonly redirectUri: string
  readonly redirectUriGiven: boolean
  readonly scopes: readonly Scope[]
  readonly state: string | null
  readonly codeChallenge: string
  readonly resource: string
  readonly browserSha256: string
}
export type AuthorizationRequest = {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  readonly redirectUri: string
  readonly redirectUriGiven: boolean
  readonly scopes: readonly Scope[]
  readonly state: string | null
  readonly codeChallenge: string
  readonly resource: string
}

/** Stores a request for five minutes and gives its id. */
export async function insertRequest(tx: SystemTransaction, request: NewRequest): Promise<string> {
  const id = newId('areq')
  await tx.execute(sql`
    insert into oauth_requests (id, client_id, redirect_uri, redirect_uri_given, scopes, state, code_challenge, resource, browser_sha256, expires_at)
    values (${id}, ${request.clientId}, ${request.redirectUri}, ${request.redirectUriGiven}, ${textArray(request.scopes)}, ${request.state},
      ${request.codeChallenge}, ${request.resource}, ${request.browserSha256},
      identity_now() + make_interval(secs => ${LIFETIMES.request}))`)
  return id
}

/** What makes a request usable in this browser. */
const isOpen = (id: string, browserSha256: string) => sql`
  r.id = ${id} and r.browser_sha256 = ${browserSha256} and r.status = 'PENDING' and r.expires_at > identity_now()`

/** Whether the request waits for this browser. */
export async function isPendingRequest(tx: SystemTransaction, id: string, browserSha256: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`select 1 from oauth_requests r where ${isOpen(id, browserSha256)}`)
  return rows.length > 0
}

/** Binds an open request to its first user and gives it; null when it is not open, not this browser's, or another user's. */
export async function bindRequest(
  tx: SystemTransaction,
  key: { readonly id: string; readonly browserSha256: string; readonly userId: string },
): Promise<AuthorizationRequest | null> {
  return await take(tx, key, sql`user_id = ${key.userId}`)
}

/** Answers an open request of this browser and user, once; null when there is no such request any more. */
export async function answerRequest(
  tx: SystemTransaction,
  key: { readonly id: string; readonly browserSha256: string; readonly userId: string },
  status: 'APPROVED' | 'DENIED',
): Promise<AuthorizationRequest | null> {
  return await take(tx, key, sql`user_id = ${key.userId}, status = ${status}`)
}

type Row = {
  id: string
  client_id: string
  name: string
  redirect_uris: string[]
  redirect_uri: string
  redirect_uri_given: boolean
  scopes: Scope[]
  state: string | null
  code_challenge: string
  resource: string
}

async function take(
  tx: SystemTransaction,
  { id, browserSha256, userId }: { readonly id: string; readonly browserSha256: string; readonly userId: string },
  change: ReturnType<typeof sql>,
): Promise<AuthorizationRequest | null> {
  const { rows } = await tx.execute<Row>(sql`
    update oauth_requests r set ${change} from oauth_clients c
    where c.id = r.client_id and ${isOpen(id, browserSha256)} and (r.user_id is null or r.user_id = ${userId})
    returning r.id, r.client_id, c.name, c.redirect_uris, r.redirect_uri, r.redirect_uri_given, r.scopes, r.state, r.code_challenge, r.resource`)
  const [row] = rows
  // A document that was read again since may have taken the address back.
  if (!row || !matchesRedirectUri(row.redirect_uri, row.redirect_uris)) return null
  return {
    id: row.id,
    clientId: row.client_id,
    clientName: row.name,
    redirectUri: row.redirect_uri,
    redirectUriGiven: row.redirect_uri_given,
    scopes: row.scopes,
    state: row.state,
    codeChallenge: row.code_challenge,
    resource: row.resource,
  }
}

/** Forgets requests that are long over. */
export const removeOldRequests = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`delete from oauth_requests where expires_at < identity_now() - interval '1 day'`)
}
