// Codes, tokens and cookie values: 256 random bits, known to us only by their SHA-256.
import { hash, randomBytes } from 'node:crypto'

export type SecretToken = { readonly text: string; readonly sha256: string }

/** A new secret; `text` is handed out once and never stored. */
export function newSecretToken(): SecretToken {
  const text = randomBytes(32).toString('base64url')
  return { text, sha256: sha256Of(text) }
}

/** How a secret is stored and found. */
export const sha256Of = (text: string): string => hash('sha256', text, 'hex')
