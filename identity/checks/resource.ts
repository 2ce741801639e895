// The resource a token is for (RFC 8707): the api, however its address is spelled. Pure.

import { parseUrl } from '../../shared/parse-url.ts'
import { OAuthError } from '../oauth-error.ts'

/** The canonical resource. Absent means the api; host case and one trailing slash do not matter; its MCP endpoint is part of it. */
export function checkResource(given: string | undefined, baseUrl: string): string {
  if (given === undefined) return baseUrl
  const asked = parseUrl(given)?.href.replace(/\/$/, '')
  const own = new URL(baseUrl).href.replace(/\/$/, '')
  if (asked !== own && asked !== `${own}/mcp`) throw new OAuthError('invalid_target', `resource must be ${baseUrl}.`)
  return baseUrl
}
