// Who is asking, and may they: an API key names platform and environment, a bearer token the few its user chose. Nothing in
// a request can widen either.
import type { FastifyRequest } from 'fastify'
import type { ApiKeyIdentity, ApiKeyRole, LiveKeys } from '../../shared/access/live-keys.ts'
import type { Database } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { type PermissionCheck, permissionsForUser } from '../access/original-user.ts'
import type { PermissionCache } from '../access/permission-cache.ts'
import type { TokenAccess } from '../access/token-access.ts'
import type { TokenClaims } from '../access/verify-access-token.ts'
import { isAboutAccess, type Permission, scopeOf } from './permissions.ts'
import type { RequestLimits } from './rate-limit/request-limits.ts'

export type Caller = {
  readonly tenant: Tenant
  /** The API key's id, or the user's. */
  readonly actorId: string
  /** The API key's id, or that of the grant a token belongs to. */
  readonly credentialId: string
  /** The user a PROXY key acts for; null for everybody who acts for themselves. */
  readonly impersonatedUserId: string | null
  /** What the caller may do here, beyond the call at hand. */
  readonly may: PermissionCheck
}

export type AccessDeps = {
  readonly database: Database
  /** How often a credential may call; without it, as often as it likes. */
  readonly limits?: Pick<RequestLimits, 'takeCredential'>
  readonly keys: LiveKeys
  /** What the users may do who gave a token, or whom a PROXY key acts for. */
  readonly permissionCache: Pick<PermissionCache, 'permissionsOf'>
  /** Without it no bearer token is taken. */
  readonly tokens?: TokenAccess
}

/**
 * The caller of a request, at once where it comes with an API key that is in memory; or throws or rejects with 401, 403, 400, or 429 when
 * its credential calls too often. The same 401 for a wrong, revoked or malformed credential.
 */
export function authenticate(
  deps: AccessDeps,
  request: FastifyRequest,
  permission: Permission,
): Caller | Promise<Caller> {
  const given = {
    originalUser: singleHeader(request, 'x-original-user'),
    key: singleHeader(request, 'x-api-key'),
    authorization: singleHeader(request, 'authorization'),
  }
  const { originalUser, key, authorization } = given
  const identity = key !== null && authorization === null && originalUser === null ? deps.keys.peek(key) : undefined
  if (!identity) return callerOf(deps, request, { ...given, permission })
  return ofKey(counted(deps, request, asNamed(request, identity)), permission)
}

/** The call counts as soon as it is known whose it is: what is refused for another reason counts too. */
function counted(
  { limits }: Pick<AccessDeps, 'limits'>,
  request: FastifyRequest,
  identity: ApiKeyIdentity,
): ApiKeyIdentity {
  limits?.takeCredential(request, { tenant: identity, credentialId: identity.keyRowId })
  return identity
}

type Given = Readonly<Record<'originalUser' | 'key' | 'authorization', string | null>> & {
  readonly permission: Permission
}

async function callerOf(
  deps: AccessDeps,
  request: FastifyRequest,
  { originalUser, key, authorization, permission }: Given,
): Promise<Caller> {
  if (key !== null && authorization !== null) {
    throw new AppError('BAD_REQUEST', 'Send X-API-KEY or Authorization, not both.')
  }
  if (authorization !== null && deps.tokens) {
    const caller = await byToken({ ...deps, tokens: deps.tokens }, request, authorization, permission)
    if (originalUser !== null) throw onlyProxyKeys('a bearer token acts for its own user')
    return caller
  }
  if (authorization !== null) throw new AppError('UNAUTHORISED', 'Send an API key in the header X-API-KEY.')
  if (key === null) {
    throw new AppError(
      'UNAUTHORISED',
      'Send an API key in the header X-API-KEY, or a bearer token.',
      challengeOf(deps.tokens),
    )
  }
  const identity = counted(deps, request, await liveKey(deps, request, key))
  if (originalUser === null) return ofKey(identity, permission)
  if (identity.originalUserIds === null) throw onlyProxyKeys('this key is of another type')
  return await forUser(deps, request, { identity, originalUser, permission })
}

/** A caller that means to act for a user must never act as another one. */
const onlyProxyKeys = (why: string): AppError =>
  new AppError(
    'USER_NOT_ALLOWED',
    `Only an API key of type PROXY acts for a user; ${why}. Leave out X-ORIGINAL-USER.`,
    {
      field: 'X-ORIGINAL-USER',
    },
  )

async function liveKey(deps: AccessDeps, request: FastifyRequest, key: string): Promise<ApiKeyIdentity> {
  const identity = await deps.keys.find(key)
  if (!identity) {
    const message = 'This API key is not valid. Check that it is complete and not revoked.'
    throw new AppError('UNAUTHORISED', message, challengeOf(deps.tokens))
  }
  return asNamed(request, identity)
}

/** The identity of a key, which is that of the platform and environment that the request names, if it does. */
function asNamed(request: FastifyRequest, identity: ApiKeyIdentity): ApiKeyIdentity {
  const platform = singleHeader(request, 'x-platform-id')
  if (platform !== null && platform !== identity.platformId) {
    throw new AppError('UNAUTHORISED', 'This API key does not belong to the platform in X-PLATFORM-ID.')
  }
  const environment = singleHeader(request, 'x-environment')
  if (environment !== null && environment !== identity.environment) {
    throw new AppError('UNAUTHORISED', `This API key is of ${identity.environment}, not of the one in X-ENVIRONMENT.`)
  }
  return identity
}

/** The claims of a request that must come with a bearer token, whatever it may do; or throws 401. */
export async function bearerOf(tokens: TokenAccess, request: FastifyRequest): Promise<TokenClaims> {
  const authorization = singleHeader(request, 'authorization')
  if (authorization !== null) return await claimsOf(tokens, authorization)
  throw new AppError('UNAUTHORISED', 'Only bearer tokens are taken here.', challengeOf(tokens))
}

async function claimsOf(tokens: TokenAccess, authorization: string): Promise<TokenClaims> {
  const token = /^Bearer ([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
  const claims = token === undefined ? null : await tokens.verify(token)
  if (claims && !tokens.isRevoked(claims.grantId)) return claims
  const message = 'The bearer token is not valid, has expired, or was revoked; get a new one.'
  throw new AppError('UNAUTHORISED', message, challengeOf(tokens, 'error="invalid_token"'))
}

const MAY: Readonly<Record<ApiKeyRole, PermissionCheck>> = {
  ADMINISTRATOR: () => true,
  READ_ONLY: permission => permission.endsWith('.VIEW'),
  INGEST: () => false,
}

/** A key that acts for itself. Throws USER_NOT_ALLOWED. */
function ofKey({ platformId, environment, keyRowId, roleType }: ApiKeyIdentity, permission: Permission): Caller {
  const may = MAY[roleType]
  if (!may(permission)) {
    const what = roleType === 'INGEST' ? 'This key sends events and does nothing else' : 'This API key is read-only'
    throw new AppError('USER_NOT_ALLOWED', `${what}; the call needs ${permission}.`)
  }
  const tenant = { platformId, environment }
  return { tenant, actorId: keyRowId, credentialId: keyRowId, impersonatedUserId: null, may }
}

/** A PROXY key that acts for a user: what the user may, and never more than the key. */
async function forUser(
  deps: AccessDeps,
  request: FastifyRequest,
  of: { readonly identity: ApiKeyIdentity; readonly originalUser: string; readonly permission: Permission },
): Promise<Caller> {
  const { identity, originalUser, permission } = of
  const own = ofKey(identity, permission)
  const userMay = await permissionsForUser(deps.permissionCache, { identity, userId: originalUser, log: request.log })
  if (!userMay(permission)) {
    throw new AppError('USER_NOT_ALLOWED', `Acting for the user in X-ORIGINAL-USER does not allow ${permission}.`)
  }
  return { ...own, impersonatedUserId: originalUser, may: each => own.may(each) && userMay(each) }
}

/**
 * What a token permits = scope and chosen platforms and what the user may do now (security 1.2, item 33), and never who has access: what an
 * application made there would outlast its grant.
 */
async function byToken(
  {
    tokens,
    permissionCache,
    limits,
  }: Pick<AccessDeps, 'permissionCache' | 'limits'> & { readonly tokens: TokenAccess },
  request: FastifyRequest,
  authorization: string,
  permission: Permission,
): Promise<Caller> {
  const claims = await claimsOf(tokens, authorization)
  if (!hasScope(claims, permission)) {
    const needed = scopeOf(permission)
    const details = challengeOf(tokens, 'error="insufficient_scope"', 'service:read service:write')
    throw new AppError('INSUFFICIENT_SCOPE', `The call needs the scope ${needed}; ask your user for it.`, details)
  }
  const tenant = tenantOf(request, claims)
  limits?.takeCredential(request, { tenant, credentialId: claims.grantId })
  const permissions = await permissionCache.permissionsOf(claims.userId, tenant)
  if (!permissions) {
    const message = 'Its user is no member of this platform and environment any more.'
    throw new AppError('UNAUTHORISED', message, challengeOf(tokens, 'error="invalid_token"'))
  }
  if (isAboutAccess(permission)) {
    const message = `A bearer token does not manage access (${permission}). Use an API key of an administrator.`
    throw new AppError('USER_NOT_ALLOWED', message)
  }
  if (!permissions.allows(permission))
    throw new AppError('USER_NOT_ALLOWED', `The user of this token lacks ${permission}.`)
  const may: PermissionCheck = each => permissions.allows(each) && hasScope(claims, each) && !isAboutAccess(each)
  return { tenant, actorId: claims.userId, credentialId: claims.grantId, impersonatedUserId: null, may }
}

const hasScope = ({ scopes }: TokenClaims, permission: string): boolean =>
  scopes.includes(scopeOf(permission)) || scopes.includes('service:write')

/** The one platform and environment a request is about (security 1.4). One the token does not reach is as one that is not there. */
function tenantOf(request: FastifyRequest, { tenants }: TokenClaims): Tenant {
  const platform = singleHeader(request, 'x-platform-id')
  const environment = singleHeader(request, 'x-environment')
  const fitting = tenants.filter(
    each =>
      (platform === null || each.platformId === platform) && (environment === null || each.environment === environment),
  )
  const [tenant, ...others] = fitting
  if (!tenant) {
    throw new AppError('RESOURCE_NOT_FOUND', 'The token gives no access to this platform and environment.', {
      resourceType: 'PLATFORM',
    })
  }
  if (others.length === 0) return tenant
  const choices = tenants.map(each => `${each.platformId} ${each.environment}`).join(', ')
  const message = `Say which one in X-PLATFORM-ID and X-ENVIRONMENT; the token reaches ${choices}.`
  throw new AppError('BAD_REQUEST', message, { field: 'X-PLATFORM-ID' })
}

/** The details of a refusal that tells a client how to get a token, or more of one (RFC 9728, RFC 6750). */
export function challengeOf(
  tokens: TokenAccess | undefined,
  error?: string,
  scope = 'service:read',
): { readonly challenge?: string } {
  if (!tokens) return {}
  const parts = [
    `resource_metadata="${tokens.metadataUrl}"`,
    `scope="${scope}"`,
    ...(error === undefined ? [] : [error]),
  ]
  return { challenge: `Bearer ${parts.join(', ')}` }
}

/** The value of a header that may be given once. Node joins repeats, so the raw list is counted. */
function singleHeader(request: FastifyRequest, name: string): string | null {
  const { rawHeaders } = request.raw
  let value: string | null = null
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== name) continue
    const given = rawHeaders[index + 1] ?? ''
    if (value !== null || given === '') throw new AppError('BAD_REQUEST', `Send the header ${name} once, with a value.`)
    value = given
  }
  return value
}
