// Who is asking: the API key names platform and environment, and nothing in the request can change them.
import type { FastifyRequest } from 'fastify'
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import type { Permission } from './permissions.ts'

export type Caller = { readonly tenant: Tenant; readonly actorId: string; readonly identity: ApiKeyIdentity }

/** The caller of a request, or throws 401, 403 or 400. The same 401 for a wrong, revoked or malformed key. */
export async function authenticate(keys: LiveKeys, request: FastifyRequest, permission: Permission): Promise<Caller> {
  const key = singleHeader(request, 'x-api-key')
  if (request.headers.authorization !== undefined) {
    if (key !== null) throw new AppError('BAD_REQUEST', 'Send X-API-KEY or Authorization, not both.')
    throw new AppError('UNAUTHORISED', 'Bearer tokens are not accepted here; send an API key in X-API-KEY.')
  }
  if (key === null) throw new AppError('UNAUTHORISED', 'Send an API key in the header X-API-KEY.')
  const identity = await keys.find(key)
  if (!identity)
    throw new AppError('UNAUTHORISED', 'This API key is not valid. Check that it is complete and not revoked.')
  const platform = singleHeader(request, 'x-platform-id')
  if (platform !== null && platform !== identity.platformId) {
    throw new AppError('UNAUTHORISED', 'This API key does not belong to the platform in x-platform-id.')
  }
  if (identity.roleType === 'READ_ONLY' && !permission.endsWith('.VIEW')) {
    throw new AppError('USER_NOT_ALLOWED', `This API key is read-only; the call needs ${permission}.`)
  }
  if (identity.roleType === 'INGEST') {
    throw new AppError('USER_NOT_ALLOWED', `This key sends events and does nothing else; the call needs ${permission}.`)
  }
  const tenant = { platformId: identity.platformId, environment: identity.environment }
  return { tenant, actorId: identity.keyRowId, identity }
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
