// Judging a proof that a signed-in user gives anew.
import { sql } from 'drizzle-orm'
import { verifyPassword } from '../../shared/access/password.ts'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { clearAttempts, countAttempt } from '../second-factor/attempts.ts'
import { factorsOf, hasSecondFactor, type Proof, verifyProof } from '../second-factor/factors.ts'
import { renewSession, type Session } from '../sessions/session-store.ts'

/** `token` is the session's new one; `wait` is in seconds. */
export type Confirmed = { readonly token: string } | { readonly wait: number } | { readonly wrong: true }
const WRONG: Confirmed = { wrong: true }

/** With a second factor, in one transaction. */
export const confirmByFactor = (deps: IdentityDeps, session: Session, proof: Proof): Promise<Confirmed> =>
  asSystem(deps.database, 'identity', async tx => {
    const { id, userId } = session
    const wait = await countAttempt(tx, userId)
    if (wait !== null) return { wait }
    if (!(await verifyProof(deps, tx, { userId, owner: id, proof }))) return WRONG
    await clearAttempts(tx, userId)
    return { token: await renewSession(tx, id) }
  })

/** With the password; never for a user who has a second factor. No transaction waits for the hash. */
export async function confirmByPassword(deps: IdentityDeps, session: Session, password: string): Promise<Confirmed> {
  const { id, userId } = session
  const asked = await asSystem(deps.database, 'identity', async tx => {
    if (hasSecondFactor(await factorsOf(tx, userId))) return WRONG
    const wait = await countAttempt(tx, userId)
    if (wait !== null) return { wait }
    const { rows } = await tx.execute<{ password_hash: string | null }>(
      sql`select password_hash from users where id = ${userId}`,
    )
    return { stored: rows[0]?.password_hash ?? null }
  })
  if (!('stored' in asked)) return asked
  if (!(await verifyPassword(asked.stored, password))) return WRONG
  return await asSystem(deps.database, 'identity', async tx => {
    await clearAttempts(tx, userId)
    return { token: await renewSession(tx, id) }
  })
}
