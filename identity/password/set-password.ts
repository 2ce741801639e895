// A new password for a user, and everything that ends with the old one.
import { sql } from 'drizzle-orm'
import { hashPassword } from '../../shared/access/password.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { expireLinksOf } from '../mail/one-time-links.ts'
import { endSessionsOf } from '../sessions/session-store.ts'
import { clearAttemptsFor } from '../sign-in/attempts.ts'
import { passwordFault } from './rules.ts'

/** A password as it is stored. */
export type StoredPassword = {
  readonly hash: string
  /** Whether the rule for accounts without a second factor takes it too. */
  readonly sufficesAlone: boolean
}

/** What is stored of a password that the rule took. Slow on purpose: outside of any transaction. */
export const storedPassword = async (password: string, username: string): Promise<StoredPassword> => ({
  hash: await hashPassword(password),
  sufficesAlone: passwordFault(password, { username, secondFactor: false }) === null,
})

/** Sets the password; the user is ACTIVE from here on. Sessions, links that wait in mailboxes and counted tries end. */
export async function setPassword(
  tx: SystemTransaction,
  user: { readonly userId: string; readonly username: string },
  { hash, sufficesAlone }: StoredPassword,
): Promise<void> {
  await tx.execute(sql`
    update users set password_hash = ${hash}, password_suffices_alone = ${sufficesAlone}, status = 'ACTIVE',
      updated_at = identity_now() where id = ${user.userId}`)
  await endSessionsOf(tx, user.userId)
  await expireLinksOf(tx, user.userId)
  // Whoever guessed at the old one made its user wait; the new one is another matter.
  await clearAttemptsFor(tx, user.username)
}
