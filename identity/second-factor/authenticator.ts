// Codes of an authenticator application (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). A code is taken one step early or late,
// and once: the step of the last one is stored, and nothing up to it is taken again (RFC 6238 section 5.2).
import { sql } from 'drizzle-orm'
import { generateSecret, generateURI, verify } from 'otplib'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { seal, unseal } from '../../shared/secrets/seal.ts'

const STEP_SECONDS = 30
const CODE = /^[0-9]{6}$/
/** A secret cannot be moved to another user's row: it was not sealed for them. */
const purposeOf = (userId: string): string => `authenticator ${userId}`

/** Makes a new secret, not yet in use, unless the user has an authenticator that is. */
export async function beginAuthenticator(tx: SystemTransaction, secret: string, userId: string): Promise<void> {
  const sealed = await seal(secret, purposeOf(userId), generateSecret())
  await tx.execute(sql`
    insert into user_authenticators as a (user_id, secret_sealed) values (${userId}, ${sealed})
    on conflict (user_id) do update set secret_sealed = excluded.secret_sealed, created_at = identity_now()
    where a.confirmed_at is null`)
}

/** The secret that waits for its first code, in base32 and as the address in the QR code; null when none does. */
export async function pendingAuthenticator(
  tx: SystemTransaction,
  secret: string,
  user: { readonly id: string; readonly username: string },
): Promise<{ readonly secret: string; readonly uri: string } | null> {
  const { rows } = await tx.execute<{ secret_sealed: string }>(sql`
    select secret_sealed from user_authenticators where user_id = ${user.id} and confirmed_at is null`)
  const [row] = rows
  if (!row) return null
  const plain = await unseal(secret, purposeOf(user.id), row.secret_sealed)
  return { secret: plain, uri: generateURI({ issuer: 'Millrace', label: user.username, secret: plain }) }
}

/** Puts the waiting secret to use when `code` is one of its; false when it is not, or none waits. */
export async function confirmAuthenticator(
  tx: SystemTransaction,
  secret: string,
  given: { readonly userId: string; readonly code: string },
): Promise<boolean> {
  return await takeCode(tx, secret, { ...given, confirmed: false })
}

/** Whether `code` is one of the user's authenticator; it is used up by this. */
export async function useAuthenticator(
  tx: SystemTransaction,
  secret: string,
  given: { readonly userId: string; readonly code: string },
): Promise<boolean> {
  return await takeCode(tx, secret, { ...given, confirmed: true })
}

async function takeCode(
  tx: SystemTransaction,
  secret: string,
  { userId, code, confirmed }: { readonly userId: string; readonly code: string; readonly confirmed: boolean },
): Promise<boolean> {
  const token = code.replaceAll(/\s/g, '')
  if (!CODE.test(token)) return false
  const { rows } = await tx.execute<{ secret_sealed: string; now: number }>(sql`
    select secret_sealed, extract(epoch from identity_now())::float8 as now from user_authenticators
    where user_id = ${userId} and (confirmed_at is not null) = ${confirmed} for update`)
  const [row] = rows
  if (!row) return false
  const plain = await unseal(secret, purposeOf(userId), row.secret_sealed)
  const epoch = Math.floor(row.now)
  const result = await verify({ secret: plain, token, epoch, epochTolerance: STEP_SECONDS, period: STEP_SECONDS })
  if (!result.valid) return false
  const step = Math.floor(epoch / STEP_SECONDS) + result.delta
  const taken = await tx.execute(sql`
    update user_authenticators set last_step = ${step}, confirmed_at = coalesce(confirmed_at, identity_now())
    where user_id = ${userId} and last_step < ${step} returning 1`)
  return taken.rows.length > 0
}

/** Forgets the authenticator of a user, in use or not. */
export const removeAuthenticator = async (tx: SystemTransaction, userId: string): Promise<void> => {
  await tx.execute(sql`delete from user_authenticators where user_id = ${userId}`)
}
