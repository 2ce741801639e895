// The first step of signing in, a password. The answer for a user nobody knows is that for a wrong one, in words and in time.
import { sql } from 'drizzle-orm'
import { hashPassword, needsRehash, verifyPassword } from '../../shared/access/password.ts'
import { asSystem, type Database } from '../../shared/database/database.ts'

/** An e-mail as it names a user, however it was typed. What no e-mail has in it finds nobody. */
export const usernameOf = (email: string): string =>
  email
    .trim()
    .toLowerCase()
    .replace(/\p{Cc}/gu, '\uFFFD')

/** The id of the ACTIVE user whose e-mail and password these are, or null. Starts no session: what follows is `signInAfterPassword`'s. */
export async function checkPassword(database: Database, email: string, password: string): Promise<string | null> {
  const username = usernameOf(email)
  const user = await asSystem(database, 'identity', async tx => {
    const { rows } = await tx.execute<{ id: string; password_hash: string | null }>(
      sql`select id, password_hash from users where username = ${username} and status = 'ACTIVE'`,
    )
    return rows[0] ?? null
  })
  const right = await verifyPassword(user?.password_hash ?? null, password)
  if (!user || !right) return null
  if (user.password_hash !== null && needsRehash(user.password_hash)) {
    const fresh = await hashPassword(password)
    await asSystem(database, 'identity', tx =>
      tx.execute(sql`update users set password_hash = ${fresh}, updated_at = now() where id = ${user.id}`),
    )
  }
  return user.id
}
