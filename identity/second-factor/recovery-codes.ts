// Ten codes of 80 random bits, each good once in place of a second factor. Shown when they are made and never again.
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { keyedHash } from '../../shared/secrets/seal.ts'

const CODES = 10
const CODE_BYTES = 10
/** Crockford's: none of these is taken for another when it was written down by hand. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** 16 characters of 5 bits each, in fours. */
function newCode(): string {
  let bits = BigInt(`0x${randomBytes(CODE_BYTES).toString('hex')}`)
  let text = ''
  for (let place = 0; place < (CODE_BYTES * 8) / 5; place += 1) {
    text += ALPHABET[Number(bits & 31n)]
    bits >>= 5n
  }
  return text.replaceAll(/(.{4})(?=.)/g, '$1-')
}

/** A code as it is hashed, however it was typed. */
export const normalizeRecoveryCode = (typed: string): string =>
  typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1')

const hashOf = (secret: string, userId: string, code: string): string =>
  keyedHash(secret, `recovery code ${userId}`, normalizeRecoveryCode(code))

/** Ten new codes in place of all earlier ones. */
export async function replaceRecoveryCodes(tx: SystemTransaction, secret: string, userId: string): Promise<string[]> {
  await removeRecoveryCodes(tx, userId)
  const codes = Array.from({ length: CODES }, newCode)
  for (const code of codes) {
    await tx.execute(sql`
      insert into user_recovery_codes (user_id, code_hash) values (${userId}, ${hashOf(secret, userId, code)})`)
  }
  return codes
}

/** Whether `code` is one of the user's that was not used yet; it is used up by this. */
export async function useRecoveryCode(
  tx: SystemTransaction,
  secret: string,
  { userId, code }: { readonly userId: string; readonly code: string },
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    update user_recovery_codes set used_at = identity_now()
    where user_id = ${userId} and code_hash = ${hashOf(secret, userId, code)} and used_at is null returning 1`)
  return rows.length > 0
}

/** Makes all codes of a user worthless. */
export const removeRecoveryCodes = async (tx: SystemTransaction, userId: string): Promise<void> => {
  await tx.execute(sql`delete from user_recovery_codes where user_id = ${userId}`)
}
