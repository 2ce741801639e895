// X-ORIGINAL-USER: a PROXY key that acts for one of the users it is allowed to act for (contract: Authentication 2; security
// section 4). With any other credential the header is refused (http/authenticate.ts).
import type { FastifyBaseLogger } from 'fastify'
import type { ApiKeyIdentity } from '../../shared/access/live-keys.ts'
import { AppError } from '../../shared/errors.ts'
import { isAboutAccess } from '../http/permissions.ts'
import type { PermissionCache } from './permission-cache.ts'

/** What a user may do: a permission in, the answer out. */
export type PermissionCheck = (permission: string) => boolean

/**
 * What a PROXY key may do for the user it names: what that user may, and never more than the key. Throws the same
 * USER_NOT_ALLOWED for a user who is not there, is no member here, or is not on the key's list.
 */
export async function permissionsForUser(
  permissionCache: Pick<PermissionCache, 'permissionsOf'>,
  request: { readonly identity: ApiKeyIdentity; readonly userId: string; readonly log: FastifyBaseLogger },
): Promise<PermissionCheck> {
  const { identity, userId, log } = request
  const isListed = identity.originalUserIds?.includes(userId) ?? false
  const permissions = isListed ? await permissionCache.permissionsOf(userId, identity) : null
  if (!permissions) {
    const reason = isListed ? 'the user is no active member here' : 'the user is not on the list of the key'
    log.info({ apiKeyId: identity.keyRowId, reason }, 'a key may not act for the user it named')
    throw new AppError('USER_NOT_ALLOWED', 'This API key may not act for the user in X-ORIGINAL-USER.')
  }
  return permission => permissions.allows(permission) && !isAboutAccess(permission)
}
