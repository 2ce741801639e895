// A form that changes something is taken only from a page of ours, in the browser the page was made for: the browser says
// where the request came from, and the form carries a token that only that browser's cookie can explain.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { readCookie, setCookie } from './cookies.ts'

const COOKIE = 'form'
const FIELD = 'csrf'

const tokenOf = (secret: string): string => createHmac('sha256', secret).update('form').digest('base64url')

/** The token for a form of the page being answered; gives the browser its cookie when it has none. */
export function csrfToken(request: FastifyRequest, reply: FastifyReply): string {
  const known = readCookie(request, COOKIE)
  if (known !== null && /^[\w-]{43}$/.test(known)) return tokenOf(known)
  const secret = randomBytes(32).toString('base64url')
  setCookie(reply, COOKIE, secret)
  return tokenOf(secret)
}

/** Whether a request was sent by a page of our own origin, as the browser says. */
export function isSameOrigin(request: FastifyRequest, identityOrigin: string): boolean {
  const site = request.headers['sec-fetch-site']
  return site === undefined ? request.headers.origin === identityOrigin : site === 'same-origin'
}

/** Whether a POST came from one of our own forms in this browser (security section 3, CSRF). */
export function hasValidCsrfToken(request: FastifyRequest, identityOrigin: string): boolean {
  const secret = readCookie(request, COOKIE)
  if (!isSameOrigin(request, identityOrigin) || secret === null) return false
  const body = request.body
  const given = typeof body === 'object' && body !== null && FIELD in body ? body[FIELD] : null
  if (typeof given !== 'string') return false
  const expected = Buffer.from(tokenOf(secret))
  const actual = Buffer.from(given)
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/** The refusal of a form that is not one of ours. */
export const invalidCsrfToken = (): AppError =>
  new AppError('USER_NOT_ALLOWED', 'This form was not sent from its own page; open the page again and retry.')
