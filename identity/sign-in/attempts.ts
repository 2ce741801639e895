// Tries of a password, counted in the database: for all processes of the identity host together, and over restarts.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { sha256Of } from '../store/secret-token.ts'
import { ATTEMPTS_WINDOW_SECONDS, secondsToNextAttempt } from './attempt-limit.ts'

/** Whose password is tried, and from a browser of theirs or from anywhere. */
export type AttemptFor = { readonly username: string; readonly browser: string | null }

/** A try that was counted before it was made, so that a hundred at once are a hundred. */
export type CountedAttempt = { readonly key: string; readonly at: string }

const keyOf = ({ username, browser }: AttemptFor): string => sha256Of(JSON.stringify([username, browser]))

/** Counts a try, or gives the whole seconds to wait before the next. The same for an account that does not exist. */
export async function countSignInAttempt(
  database: Database,
  who: AttemptFor,
): Promise<CountedAttempt | { readonly wait: number }> {
  const key = keyOf(who)
  return await asSystem(database, 'identity', async tx => {
    const wait = secondsToNextAttempt(await lockTries(tx, key))
    if (wait > 0) return { wait: Math.ceil(wait) }
    const { rows } = await tx.execute<{ at: string }>(sql`
      update sign_in_tries t set updated_at = n.now,
        tries = array(select at from unnest(t.tries) at where at > n.now - make_interval(secs => ${ATTEMPTS_WINDOW_SECONDS})) || n.now
      from (select identity_now() as now) n where t.key_sha256 = ${key} returning n.now::text as at`)
    return { key, at: rows[0]?.at ?? '' }
  })
}

/** The seconds since each try of a key, whose row stays locked until the transaction ends. */
async function lockTries(tx: SystemTransaction, key: string): Promise<number[]> {
  await tx.execute(sql`insert into sign_in_tries (key_sha256) values (${key}) on conflict (key_sha256) do nothing`)
  await tx.execute(sql`select 1 from sign_in_tries where key_sha256 = ${key} for update`)
  const { rows } = await tx.execute<{ ago: number }>(sql`
    select extract(epoch from identity_now() - at)::float8 as ago from sign_in_tries, unnest(tries) at where key_sha256 = ${key}`)
  return rows.map(row => row.ago)
}

/** Takes back a try that turned out right. */
export const removeAttempt = async (database: Database, tried: CountedAttempt): Promise<void> => {
  await asSystem(database, 'identity', tx =>
    tx.execute(sql`
      update sign_in_tries set tries = array_remove(tries, ${tried.at}::timestamptz) where key_sha256 = ${tried.key}`),
  )
}

/** Forgets what was tried for an account from anywhere. */
export const clearAttemptsFor = async (tx: SystemTransaction, username: string): Promise<void> => {
  await tx.execute(sql`delete from sign_in_tries where key_sha256 = ${keyOf({ username, browser: null })}`)
}

/** Forgets keys that nobody tried lately. */
export const removeOldAttempts = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`delete from sign_in_tries where updated_at < identity_now() - interval '1 day'`)
}
