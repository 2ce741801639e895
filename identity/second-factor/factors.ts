// Which second factors a user has, and whether a proof is one of them.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { useAuthenticator } from './authenticator.ts'
import { listPasskeys, type Passkey, relyingPartyOf, requestOptions, usePasskey } from './passkeys.ts'
import { removeRecoveryCodes, useRecoveryCode } from './recovery-codes.ts'

export type Factors = {
  readonly authenticator: boolean
  readonly passkeys: readonly Passkey[]
  readonly recoveryCodesLeft: number
}

/** The second factors of a user that are in use. */
export async function factorsOf(tx: SystemTransaction, userId: string): Promise<Factors> {
  const { rows } = await tx.execute<{ authenticator: boolean; codes: number }>(sql`
    select exists (select from user_authenticators where user_id = ${userId} and confirmed_at is not null) as authenticator,
      (select count(*)::integer from user_recovery_codes where user_id = ${userId} and used_at is null) as codes`)
  const [row] = rows
  return {
    authenticator: row?.authenticator ?? false,
    passkeys: await listPasskeys(tx, userId),
    recoveryCodesLeft: row?.codes ?? 0,
  }
}

/** Whether a password alone is not enough for these. Recovery codes are not a factor of their own. */
export const hasSecondFactor = ({ authenticator, passkeys }: Factors): boolean => authenticator || passkeys.length > 0

/** Whether a user's password is not enough to sign in. */
export const requiresSecondFactor = async (tx: SystemTransaction, userId: string): Promise<boolean> =>
  hasSecondFactor(await factorsOf(tx, userId))

/**
 * Whether a user's password protects the account by itself. Beside a second factor a shorter one is allowed, and it must not be
 * what stays when the last factor goes.
 */
export async function passwordSufficesAlone(tx: SystemTransaction, userId: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`select 1 from users where id = ${userId} and password_suffices_alone`)
  return rows.length > 0
}

/** Codes that replace a factor go with the last one. */
export async function removeOrphanedRecoveryCodes(tx: SystemTransaction, userId: string): Promise<void> {
  if (!(await requiresSecondFactor(tx, userId))) await removeRecoveryCodes(tx, userId)
}

/** As a form brings it: exactly one of them. */
export type Proof =
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'recovery'; readonly text: string }
  | { readonly kind: 'passkey'; readonly text: string }

/** Whether the proof is right. It is used up by this. `owner` is the session or half-done sign-in it is given in. */
export async function verifyProof(
  deps: IdentityDeps,
  tx: SystemTransaction,
  { userId, owner, proof }: { readonly userId: string; readonly owner: string; readonly proof: Proof },
): Promise<boolean> {
  if (proof.kind === 'code') return await useAuthenticator(tx, deps.secret, { userId, code: proof.text })
  if (proof.kind === 'recovery') return await useRecoveryCode(tx, deps.secret, { userId, code: proof.text })
  const party = relyingPartyOf(deps.identityUrl)
  return party !== null && (await usePasskey(tx, party, { userId, owner, credential: proof.text }))
}

/** What a page needs to ask for a second factor. */
export type SecondFactorPrompt = { readonly factors: Factors; readonly passkeyOptions: object | null }

/** Prepares it: with a challenge of its own where the user has passkeys. */
export async function secondFactorPrompt(
  deps: IdentityDeps,
  tx: SystemTransaction,
  { userId, owner }: { readonly userId: string; readonly owner: string },
): Promise<SecondFactorPrompt> {
  const factors = await factorsOf(tx, userId)
  const party = relyingPartyOf(deps.identityUrl)
  const passkeyOptions = party === null ? null : await requestOptions(tx, party, { userId, owner })
  return { factors, passkeyOptions }
}
