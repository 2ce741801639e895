// Client ids that are the address of a document about the client (client ID metadata documents). Pure.
import { isIP } from 'node:net'
import { parseUrl } from '../../shared/parse-url.ts'

/** Tokens name the client, so its id has to fit into them. */
const CHARACTERS_MAX = 500
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i

/** Whether a client_id claims to be such an address. Ids of registered clients never do. */
export const isClientIdUrl = (clientId: string): boolean => clientId.startsWith('https://')

/** The host of such an id, with its port if it has one: the one thing about the client that is proven. Null for other ids. */
export const hostOfClient = (clientId: string): string | null =>
  isClientIdUrl(clientId) ? new URL(clientId).host : null

/**
 * Why an address cannot be a client id, or null when it can: https, a host name, a path, no user, no fragment, no dot segments
 * (draft-ietf-oauth-client-id-metadata-document, section 3). Ids are compared as text, so the address must be written in its
 * normal form: one application has one id.
 */
export function clientIdUrlFault(clientId: string): string | null {
  if (clientId.length > CHARACTERS_MAX) return `the address is longer than ${CHARACTERS_MAX} characters`
  const url = isClientIdUrl(clientId) ? parseUrl(clientId) : null
  if (url === null) return 'the address must be an absolute https address'
  const [, authority = '', rest = ''] = /^https:\/\/([^/?#]*)(.*)$/s.exec(clientId) ?? []
  if (authority.includes('@')) return 'the address must not hold a user name or password'
  if (clientId.includes('#')) return 'the address must not have a fragment'
  if (!rest.startsWith('/')) return 'the address must have a path'
  if (DOT_SEGMENT.test(rest)) return 'the address must not have dot segments'
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return 'the address must name its host by a name'
  if (url.hostname.endsWith('.')) return 'the host name must not end with a dot'
  if (url.href !== clientId) return `the address must be written as ${url.href}`
  return null
}
