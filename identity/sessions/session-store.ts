// Sessions: opaque tokens of 256 bits, stored only as their SHA-256; idle 8 hours, absolute 7 days.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import { newSecretToken, sha256Of } from '../store/secret-token.ts'

export type Session = {
  readonly id: string
  readonly userId: string
  readonly username: string
  /** Seconds since the user last proved who they are. */
  readonly authenticatedSecondsAgo: number
}

const IDLE = '8 hours'
const ABSOLUTE = '7 days'
/** Written at most this often, so that reading pages does not write a row each time. */
const SEEN_EVERY = '1 minute'

/** Starts a session and gives its token, which is nowhere else. Always a new one: a token from before sign-in never lives on. */
export async function startSession(tx: SystemTransaction, userId: string): Promise<string> {
  const token = newSecretToken()
  await tx.execute(sql`
    insert into sessions (id, token_sha256, user_id, expires_at)
    values (${newId('sess')}, ${token.sha256}, ${userId}, identity_now() + ${ABSOLUTE}::interval)`)
  return token.text
}

/** The live session of a token, or null when there is none, it has ended, or its user is not ACTIVE. */
export async function findSession(tx: SystemTransaction, token: string): Promise<Session | null> {
  const { rows } = await tx.execute<{ id: string; user_id: string; username: string; age: number; stale: boolean }>(sql`
    select s.id, s.user_id, u.username, extract(epoch from identity_now() - s.authenticated_at)::float8 as age,
      s.last_seen_at < identity_now() - ${SEEN_EVERY}::interval as stale
    from sessions s join users u on u.id = s.user_id and u.status = 'ACTIVE'
    where s.token_sha256 = ${sha256Of(token)} and s.ended_at is null and s.expires_at > identity_now()
      and s.last_seen_at > identity_now() - ${IDLE}::interval`)
  const [row] = rows
  if (!row) return null
  if (row.stale) await tx.execute(sql`update sessions set last_seen_at = identity_now() where id = ${row.id}`)
  return { id: row.id, userId: row.user_id, username: row.username, authenticatedSecondsAgo: row.age }
}

/** Notes that the user of a session has just proved who they are, and gives it a new token: the old one ends here. */
export async function renewSession(tx: SystemTransaction, id: string): Promise<string> {
  const token = newSecretToken()
  await tx.execute(sql`
    update sessions set token_sha256 = ${token.sha256}, authenticated_at = identity_now() where id = ${id} and ended_at is null`)
  return token.text
}

/** Ends one session. */
export const endSession = async (tx: SystemTransaction, id: string): Promise<void> => {
  await tx.execute(sql`update sessions set ended_at = identity_now() where id = ${id} and ended_at is null`)
}

/** Ends every session of a user: "log out everywhere", a new password, a removal. */
export const endSessionsOf = async (tx: SystemTransaction, userId: string): Promise<void> => {
  await endOtherSessionsOf(tx, userId, '')
}

/** Ends every session of a user but this one, and every sign-in that is half done. */
export const endOtherSessionsOf = async (tx: SystemTransaction, userId: string, keptId: string): Promise<void> => {
  await tx.execute(sql`
    update sessions set ended_at = identity_now() where user_id = ${userId} and id <> ${keptId} and ended_at is null`)
  await tx.execute(sql`delete from pending_sign_ins where user_id = ${userId}`)
}
