// Secrets at rest: JWE under a key derived from a secret that is not in the database (HKDF-SHA256, A256GCM).
import { createHmac, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt } from 'jose'

const keyFrom = (secret: string, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, 'millrace', purpose, 32))

/** `text` sealed for one purpose. */
export const seal = (secret: string, purpose: string, text: string): Promise<string> =>
  new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(keyFrom(secret, purpose))

/** What was sealed. Throws when the secret or the purpose is another one, or a bit was changed. */
export async function unseal(secret: string, purpose: string, sealed: string): Promise<string> {
  const { plaintext } = await compactDecrypt(sealed, keyFrom(secret, purpose))
  return new TextDecoder().decode(plaintext)
}

/** A hash of `text` that nobody can try out without the secret, for what is too short for a plain one. */
export const keyedHash = (secret: string, purpose: string, text: string): string =>
  createHmac('sha256', keyFrom(secret, purpose)).update(text).digest('base64url')
