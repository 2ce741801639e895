// Which browser started an authorization request: a cookie of its own for each, so that several can be open side by side.
import { sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { LIFETIMES } from '../grants/decide.ts'
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts'
import { sha256Of } from '../store/secret-token.ts'

const OPEN_MAX = 10
const PREFIX = '__Host-ar-'

const nameOf = (requestId: string): string => `ar-${requestId.slice(-8)}`

/** Gives the browser the cookie of a new request, and takes back the oldest when it has ten open. */
export async function setRequestCookie(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  started: { readonly id: string; readonly secret: string },
): Promise<void> {
  setCookie(reply, nameOf(started.id), started.secret, LIFETIMES.request)
  const open = Object.entries(request.cookies).filter(([name]) => name.startsWith(PREFIX))
  if (open.length < OPEN_MAX) return
  const hashes = open.map(([, value]) => sha256Of(value ?? ''))
  const { rows } = await asSystem(database, 'identity', tx =>
    tx.execute<{ browser_sha256: string }>(sql`
      select browser_sha256 from oauth_requests where browser_sha256 in (${sql.join(hashes, sql`, `)})
        and status = 'PENDING' and expires_at > identity_now() order by created_at desc limit ${OPEN_MAX - 1}`),
  )
  const kept = new Set(rows.map(row => row.browser_sha256))
  for (const [name, value] of open)
    if (!kept.has(sha256Of(value ?? ''))) clearCookie(reply, name.slice('__Host-'.length))
}

/** The hash by which a request knows its browser; of nothing when the cookie is missing. */
export const browserHash = (request: FastifyRequest, requestId: string): string =>
  sha256Of(readCookie(request, nameOf(requestId)) ?? '')

/** The request is answered: its cookie has no more use. */
export const clearRequestCookie = (reply: FastifyReply, requestId: string): void =>
  clearCookie(reply, nameOf(requestId))
