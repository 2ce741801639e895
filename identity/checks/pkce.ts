// Proof key for code exchange (RFC 7636), S256 and nothing else. Pure.
import { hash, timingSafeEqual } from 'node:crypto'
import { OAuthError } from '../oauth-error.ts'

const CHALLENGE = /^[A-Za-z0-9_-]{43,128}$/
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/

/** The challenge of an authorization request. Throws `invalid_request`; a missing challenge or method is one too. */
export function checkChallenge(challenge: string | undefined, method: string | undefined): string {
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
  if (challenge === undefined || !CHALLENGE.test(challenge)) {
    throw new OAuthError('invalid_request', 'code_challenge must be 43 to 128 base64url characters.')
  }
  return challenge
}

/** Whether a verifier is the one the challenge was made from. */
export function verifierMatches(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false
  const actual = Buffer.from(hash('sha256', verifier, 'base64url'))
  const expected = Buffer.from(challenge)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
