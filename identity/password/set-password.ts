// A new password for a user, and everything that ends with the old one.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { endLinksOf } from '../mail/one-time-links.ts'
import { endSessionsOf } from '../sessions/session-store.ts'
import { forgetTriesFor } from '../sign-in/tries.ts'

/** Sets the hash; the user is ACTIVE from here on. Sessions, links that wait in mailboxes and counted tries end. */
export async function setPassword(
  tx: SystemTransaction,
  user: { readonly userId: string; readonly username: string },
  passwordHash: string,
): Promise<void> {
  await tx.execute(sql`
    update users set password_hash = ${passwordHash}, status = 'ACTIVE', updated_at = identity_now() where id = ${user.userId}`)
  await endSessionsOf(tx, user.userId)
  await endLinksOf(tx, user.userId)
  // Whoever guessed at the old one made its user wait; the new one is another matter.
  await forgetTriesFor(tx, user.username)
}
