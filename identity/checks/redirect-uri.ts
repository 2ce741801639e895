// Which redirect addresses may be registered, and which of a request is one of them (security 1.2, items 7, 8, 11). Pure.

import { parseUrl } from '../../shared/parse-url.ts'
import { OAuthError } from '../oauth-error.ts'

const URIS_MAX = 10
const CHARACTERS_MAX = 2_000
/** Ours to append; a registered address that brought its own could forge an answer. */
const RESERVED_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description']
// The three names of this machine, as they are written: every other spelling of them is refused.
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9][0-9]{0,4}))?((?:[/?][^#]*)?)$/
// Space, control characters, and what browsers read as a slash or a pattern.
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\\*<>"^`{}|]/u
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?]|$)/i

/** The redirect addresses of a registration. Throws `invalid_redirect_uri`. `schemes`: private-use ones the operator allows. */
export function checkRedirectUris(given: unknown, schemes: readonly string[]): string[] {
  if (!Array.isArray(given) || given.length === 0)
    throw fault('redirect_uris must be an array with at least one address.')
  if (given.length > URIS_MAX)
    throw fault(`redirect_uris holds ${given.length} addresses; at most ${URIS_MAX} are allowed.`)
  return given.map((uri: unknown, index) => {
    const reason = typeof uri === 'string' ? faultOf(uri, schemes) : 'is not a string'
    if (typeof uri !== 'string' || reason !== null) throw fault(`redirect_uris[${index}] ${reason}.`)
    return uri
  })
}

/** More than in a registration: one document lists the addresses of every way its application is run. */
const DOCUMENT_URIS_MAX = 50

/**
 * Those of the addresses in a client's own document that may be registered here. Throws `invalid_redirect_uri` when that is no
 * list, a list of more than 50, or leaves none.
 */
export function usableRedirectUris(given: unknown, schemes: readonly string[]): string[] {
  if (!Array.isArray(given) || given.length > DOCUMENT_URIS_MAX)
    throw fault(`redirect_uris must be an array of at most ${DOCUMENT_URIS_MAX} addresses.`)
  const usable = given.filter(uri => typeof uri === 'string' && faultOf(uri, schemes) === null)
  if (usable.length === 0) throw fault('redirect_uris holds no address that may be registered here.')
  return [...new Set(usable)]
}

const fault = (message: string): OAuthError => new OAuthError('invalid_redirect_uri', message)

function faultOf(uri: string, schemes: readonly string[]): string | null {
  if (uri.length > CHARACTERS_MAX) return `is longer than ${CHARACTERS_MAX} characters`
  if (FORBIDDEN.test(uri)) return 'holds a character that no address needs unencoded'
  if (uri.includes('#')) return 'has a fragment'
  const url = parseUrl(uri)
  if (url === null) return 'is not an absolute address'
  const scheme = url.protocol.slice(0, -1)
  if (!uri.startsWith(`${scheme}:`)) return 'must name its scheme in lower case'
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/\/[^/?]*@/.test(uri))
    return 'holds a user name or password'
  const reserved = RESERVED_PARAMETERS.find(name => url.searchParams.has(name))
  if (reserved !== undefined) return `has a parameter ${reserved}, which belongs to the answer`
  if (DOT_SEGMENT.test(url.pathname) || DOT_SEGMENT.test(uri.replace(/^[a-z]+:\/\/[^/?]*/, '')))
    return 'has a dot segment'
  if (scheme === 'https') return /^https:\/\/[^/?]/.test(uri) ? null : 'names no host'
  if (scheme === 'http') return isLoopback(uri) ? null : 'uses http, which only 127.0.0.1, [::1] and localhost may'
  if (schemes.includes(scheme)) return null
  return 'must use https, or http on this machine'
}

/** Whether an address is http on this machine. */
export const isLoopback = (uri: string): boolean => {
  const port = LOOPBACK.exec(uri)?.[2]
  return LOOPBACK.test(uri) && (port === undefined || Number(port) <= 65_535)
}

/**
 * Whether the address of a request is one that was registered: the same text, or the same loopback host name, path and
 * query on any port (RFC 8252 section 7.3, for `localhost` too). `localhost` is never `127.0.0.1`.
 */
export function matchesRedirectUri(requested: string, registered: readonly string[]): boolean {
  if (registered.includes(requested)) return true
  if (!isLoopback(requested)) return false
  const [, host, , rest] = LOOPBACK.exec(requested) ?? []
  return registered.some(uri => {
    const [match, otherHost, , otherRest] = LOOPBACK.exec(uri) ?? []
    return match !== undefined && host === otherHost && rest === otherRest
  })
}
