// Signing in with a password. The answer for a user nobody knows is that for a wrong password, in words and in time.
import { sql } from 'drizzle-orm'
import { hashPassword, needsRehash, verifyPassword } from '../../shared/access/password.ts'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { startSession } from '../sessions/session-store.ts'

/** The token of a new session, or null when e-mail and password are not those of an ACTIVE user. */
export async function signIn(database: Database, email: string, password: string): Promise<string | null> {
  const username = email.trim().toLowerCase()
  const user = await asSystem(database, 'identity', async tx => {
    const { rows } = await tx.execute<{ id: string; password_hash: string | null }>(
      sql`select id, password_hash from users where username = ${username} and status = 'ACTIVE'`,
    )
    return rows[0] ?? null
  })
  const right = await verifyPassword(user?.password_hash ?? null, password)
  if (!user || !right) return null
  const fresh = user.password_hash !== null && needsRehash(user.password_hash) ? await hashPassword(password) : null
  return await asSystem(database, 'identity', async tx => {
    if (fresh !== null)
      await tx.execute(sql`update users set password_hash = ${fresh}, updated_at = now() where id = ${user.id}`)
    return await startSession(tx, user.id)
  })
}
