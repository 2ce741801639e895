// A sign-in that is half done: the password was right, the second factor is still to come. It lives five minutes, in the
// browser that gave the password, and opens nothing by itself.
import { sql } from 'drizzle-orm'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { clearCookie, readCookie, setCookie } from '../http/cookies.ts'
import { newSecretToken, sha256Of } from '../store/secret-token.ts'

const COOKIE = 'second'
const TOKEN = /^[\w-]{43}$/
const SECONDS = 300

export type PendingSignIn = {
  /** What passkey challenges are made for, and the row's own name. */
  readonly id: string
  readonly userId: string
  readonly waiting: string | null
}

/** Starts one and gives the token for the browser, which is nowhere else. */
export async function startPendingSignIn(
  tx: SystemTransaction,
  { userId, waiting }: { readonly userId: string; readonly waiting: string | null },
): Promise<string> {
  const token = newSecretToken()
  await tx.execute(sql`
    insert into pending_sign_ins (token_sha256, user_id, request_id, expires_at)
    values (${token.sha256}, ${userId}, ${waiting}, identity_now() + make_interval(secs => ${SECONDS}))`)
  return token.text
}

/** That of this browser, locked until the transaction ends; null when there is none, it is over, or its user is not ACTIVE. */
export async function lockPendingSignIn(tx: SystemTransaction, request: FastifyRequest): Promise<PendingSignIn | null> {
  const token = readCookie(request, COOKIE)
  if (token === null || !TOKEN.test(token)) return null
  const id = sha256Of(token)
  const { rows } = await tx.execute<{ user_id: string; request_id: string | null }>(sql`
    select p.user_id, p.request_id from pending_sign_ins p join users u on u.id = p.user_id and u.status = 'ACTIVE'
    where p.token_sha256 = ${id} and p.expires_at > identity_now() for update of p`)
  const [row] = rows
  return row ? { id, userId: row.user_id, waiting: row.request_id } : null
}

/** It led to a session, and to no second one. */
export const removePendingSignIn = async (tx: SystemTransaction, id: string): Promise<void> => {
  await tx.execute(sql`delete from pending_sign_ins where token_sha256 = ${id}`)
}

/** Gives the browser the cookie with its half of it. */
export const setPendingCookie = (reply: FastifyReply, token: string): void => setCookie(reply, COOKIE, token, SECONDS)

/** Makes the browser forget it. */
export const clearPendingCookie = (reply: FastifyReply): void => clearCookie(reply, COOKIE)

/** Forgets those that nobody finished. */
export const removeOldPendingSignIns = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`delete from pending_sign_ins where expires_at < identity_now()`)
}
