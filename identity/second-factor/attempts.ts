// How often a user may be wrong about a proof. Counted in the database, so that it holds for all processes together, and
// before the proof is looked at, so that a hundred at once are a hundred.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'

/** The first few mistakes in a row cost nothing. */
const FREE_TRIES = 5
const FIRST_WAIT_SECONDS = 30
const LONGEST_WAIT_SECONDS = 3_600

/**
 * Counts an attempt as wrong until `clearAttempts` says otherwise, and gives null, or the seconds to wait before the next when there
 * were too many. From the fifth wrong one in a row each wait is twice the one before, up to an hour: someone who knows a password
 * gets some 24 guesses a day at a code of a million. Nobody is locked out for good.
 */
export async function countAttempt(tx: SystemTransaction, userId: string): Promise<number | null> {
  const { rows } = await tx.execute(sql`
    insert into proof_tries as t (user_id, wrong) values (${userId}, 1)
    on conflict (user_id) do update set wrong = t.wrong + 1, blocked_until = case when t.wrong + 1 >= ${FREE_TRIES}::integer
      then identity_now() + make_interval(secs => least(${LONGEST_WAIT_SECONDS}::float8,
        ${FIRST_WAIT_SECONDS}::float8 * 2 ^ least(t.wrong + 1 - ${FREE_TRIES}::integer, 20))) end
    where t.blocked_until is null or t.blocked_until <= identity_now()
    returning wrong`)
  if (rows.length > 0) return null
  const waits = await tx.execute<{ seconds: number }>(sql`
    select ceil(extract(epoch from blocked_until - identity_now()))::integer as seconds from proof_tries where user_id = ${userId}`)
  return Math.max(1, waits.rows[0]?.seconds ?? 1)
}

/** The last attempt was right: the next mistake is the first again. */
export const clearAttempts = async (tx: SystemTransaction, userId: string): Promise<void> => {
  await tx.execute(sql`delete from proof_tries where user_id = ${userId}`)
}
