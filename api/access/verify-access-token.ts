// Bearer tokens: JWTs of the identity host, checked against its public keys, for this api and nobody else (security 1.2, item 32).
import { hash } from 'node:crypto'
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { AppError } from '../../shared/errors.ts'
import { ENVIRONMENTS, type Tenant } from '../../shared/tenant.ts'

export type TokenClaims = {
  readonly userId: string
  readonly clientId: string
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly tenants: readonly Tenant[]
}

export type VerifyAccessToken = (token: string) => Promise<TokenClaims | null>

const CLOCK_SKEW_SECONDS = 5
const TOKEN_CHARACTERS_MAX = 4_096
/** Verifying costs a fifth of a millisecond of a core; a token that is used again within the minute costs a look-up. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 10_000

/** The public keys of the identity host, fetched when they are first needed and kept for five minutes. */
export const keysOf = (identityUrl: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(`${identityUrl}/.well-known/jwks.json`), { cacheMaxAge: 300_000, timeoutDuration: 5_000 })

/** Checks tokens: the claims of one that is whole, ours, for this api and in time; null otherwise. Throws SERVICE_UNAVAILABLE without keys. */
export function createTokenVerifier(options: {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string
  readonly audience: string
  readonly nowMs: () => number
}): VerifyAccessToken {
  const remembered = new Map<string, { readonly claims: TokenClaims; readonly until: number }>()
  return async token => {
    if (token.length > TOKEN_CHARACTERS_MAX) return null
    const key = hash('sha256', token, 'base64url')
    const known = remembered.get(key)
    if (known && known.until > options.nowMs()) return known.claims
    remembered.delete(key)
    const payload = await verify(token, options)
    const claims = payload && claimsOf(payload)
    if (!payload || !claims) return null
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    const until = Math.min((payload.exp ?? 0) * 1_000, options.nowMs() + REMEMBERED_MS)
    remembered.set(key, { claims, until })
    return claims
  }
}

async function verify(
  token: string,
  { keys, issuer, audience, nowMs }: Parameters<typeof createTokenVerifier>[0],
): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      typ: 'at+jwt',
      algorithms: ['ES256'],
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: new Date(nowMs()),
      requiredClaims: ['sub', 'exp', 'iat', 'jti', 'client_id', 'scope', 'gid', 'platforms'],
    })
    return payload
  } catch (cause) {
    // No key of that id is the token's fault; keys that cannot be fetched are not.
    const unreachable = cause instanceof errors.JWKSTimeout || !(cause instanceof errors.JOSEError)
    if (!unreachable) return null
    const message = 'The token cannot be checked right now; send the request again.'
    throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 2, cause })
  }
}

function claimsOf(payload: JWTPayload): TokenClaims | null {
  const { sub, client_id: clientId, gid, scope, platforms } = payload
  if (typeof sub !== 'string' || typeof clientId !== 'string' || typeof gid !== 'string' || typeof scope !== 'string')
    return null
  if (!Array.isArray(platforms)) return null
  const tenants = platforms.map(tenantOf)
  if (!tenants.every(tenant => tenant !== null)) return null
  return { userId: sub, clientId, grantId: gid, scopes: scope.split(' '), tenants }
}

function tenantOf(platform: unknown): Tenant | null {
  if (typeof platform !== 'object' || platform === null || !('id' in platform) || !('environment' in platform))
    return null
  const environment = ENVIRONMENTS.find(each => each === platform.environment)
  return typeof platform.id === 'string' && environment ? { platformId: platform.id, environment } : null
}
