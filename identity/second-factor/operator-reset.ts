// The second factor of a user who lost it, taken away by the operator of the installation: the way for a member of several
// platforms, whose factor no single platform's key may reset. Anyone who can run this can already read every row, so what it adds is
// the checks, the mail and the record in the audit trail of each tenant.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Environment } from '../../shared/tenant.ts'
import { usernameOf } from '../sign-in/sign-in.ts'
import { writeTenantNotices } from '../store/notices.ts'

export const REASON_CHARACTERS_MAX = 500

export type Account = {
  readonly userId: string
  readonly username: string
  /** Where the account opens something, or did until it was deactivated there. */
  readonly places: readonly {
    readonly platformId: string
    readonly platformName: string
    readonly environment: Environment
    readonly status: 'ACTIVE' | 'INACTIVE'
  }[]
  readonly authenticators: number
  readonly passkeys: number
}

/** What an account opens and is protected by; null when no user has this e-mail address. */
export const findAccount = (database: Database, email: string): Promise<Account | null> =>
  asSystem(database, 'identity', async tx => {
    const { rows } = await tx.execute<{ id: string; username: string; authenticators: number; passkeys: number }>(sql`
      select id, username,
        (select count(*)::int from user_authenticators a where a.user_id = u.id and a.confirmed_at is not null) as authenticators,
        (select count(*)::int from user_passkeys k where k.user_id = u.id) as passkeys
      from users u where username = ${usernameOf(email)}`)
    const [user] = rows
    if (!user) return null
    const { authenticators, passkeys } = user
    return { userId: user.id, username: user.username, places: await placesOf(tx, user.id), authenticators, passkeys }
  })

type PlaceRow = { platform_id: string; platform_name: string; environment: Environment; status: 'ACTIVE' | 'INACTIVE' }

async function placesOf(tx: SystemTransaction, userId: string): Promise<Account['places']> {
  const { rows } = await tx.execute<PlaceRow>(sql`
    select m.platform_id, p.name as platform_name, m.environment, m.status
    from user_memberships m join platforms p on p.platform_id = m.platform_id and p.environment = m.environment
    where m.user_id = ${userId} and m.status in ('ACTIVE', 'INACTIVE')
    order by p.name, m.environment, m.platform_id`)
  return rows.map(row => ({
    platformId: row.platform_id,
    platformName: row.platform_name,
    environment: row.environment,
    status: row.status,
  }))
}

export type ResetOutcome = 'DONE' | 'NOT_ACTIVE' | 'NO_FACTOR' | 'SHORT_PASSWORD'

/**
 * Removes the authenticator app, the passkeys and the recovery codes of a user and ends every session. The user gets a mail, and
 * the trail of every tenant they are a member of gets USER.SECOND_FACTOR_RESET with `reason`, the operator's words. Nothing is
 * done unless the outcome is DONE.
 */
export const resetByOperator = (
  database: Database,
  { userId, reason }: { readonly userId: string; readonly reason: string },
): Promise<ResetOutcome> =>
  asSystem(database, 'identity', async tx => {
    const { rows } = await tx.execute<{ outcome: ResetOutcome }>(sql`
      select remove_second_factor(${userId}, 'SECOND_FACTOR_RESET_BY_OPERATOR', ${newId('mail')}) as outcome`)
    const outcome = rows[0]?.outcome ?? 'NOT_ACTIVE'
    if (outcome !== 'DONE') return outcome
    const data = {
      object_type: 'USER',
      id: userId,
      second_factor_change: 'SECOND_FACTOR_RESET',
      reset_by: 'OPERATOR',
      reason,
    }
    const event = { type: 'USER.SECOND_FACTOR_RESET', objectId: userId, data, previous: null } as const
    await writeTenantNotices(tx, await placesOf(tx, userId), { actorId: null, requestId: null }, event)
    return outcome
  })
