// A browser that has signed in to an account before keeps a mark of it. Its tries are counted apart, so that strangers who
// guess at an account cannot make the person whose it is wait (OWASP: device cookies).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { readCookie, setCookie } from '../http/cookies.ts'

const COOKIE = 'known'
const MAX_AGE_SECONDS = 180 * 86_400
const MARK = /^([\w-]{22})\.([\w-]{43})$/

const signatureOf = (secret: string, username: string, nonce: string): string =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['known-browser', nonce, username]))
    .digest('base64url')

/** What this browser is counted as for an account: a name of its own where it was marked by it, otherwise null. */
export function knownBrowser(request: FastifyRequest, secret: string, username: string): string | null {
  const [, nonce, signature] = MARK.exec(readCookie(request, COOKIE) ?? '') ?? []
  if (nonce === undefined || signature === undefined) return null
  const expected = signatureOf(secret, username, nonce)
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? nonce : null
}

/** Marks this browser as one that knew the account's password. */
export function markBrowser(reply: FastifyReply, secret: string, username: string): void {
  const nonce = randomBytes(16).toString('base64url')
  setCookie(reply, COOKIE, `${nonce}.${signatureOf(secret, username, nonce)}`, MAX_AGE_SECONDS)
}
