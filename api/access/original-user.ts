// X-ORIGINAL-USER: a PROXY key that acts for one of the users it is allowed to act for (contract: Authentication 2; security
// section 4). Nobody else is heard, and what was not honoured is in the audit trail.
import type { FastifyBaseLogger } from 'fastify'
import type { ApiKeyIdentity } from '../../shared/access/live-keys.ts'
import { type Actor, type Database, inTenant } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { isAboutAccess } from '../http/permissions.ts'
import { emit } from '../outbox.ts'
import type { LivePowers } from './live-powers.ts'

/** What somebody may do: a permission in, the answer out. */
export type May = (permission: string) => boolean

/**
 * What a PROXY key may do for the user it names: what that user may, and never more than the key. Throws the same
 * USER_NOT_ALLOWED for a user who is not there, is no member here, or is not on the key's list.
 */
export async function powerForUser(
  powers: Pick<LivePowers, 'powerOf'>,
  request: { readonly identity: ApiKeyIdentity; readonly userId: string; readonly log: FastifyBaseLogger },
): Promise<May> {
  const { identity, userId, log } = request
  const isListed = identity.originalUserIds?.includes(userId) ?? false
  const power = isListed ? await powers.powerOf(userId, identity) : null
  if (!power) {
    const reason = isListed ? 'the user is no active member here' : 'the user is not on the list of the key'
    log.info({ apiKeyId: identity.keyRowId, reason }, 'a key may not act for the user it named')
    throw new AppError('USER_NOT_ALLOWED', 'This API key may not act for the user in X-ORIGINAL-USER.')
  }
  return permission => power.allows(permission) && !isAboutAccess(permission)
}

/** Who sent an X-ORIGINAL-USER that was not honoured: a key of another type, or a grant's token. */
export type Unheard = {
  readonly tenant: Tenant
  readonly credentialType: 'API_KEY' | 'OAUTH_GRANT'
  readonly credentialId: string
  readonly actor: Actor
}

/** A sender decides how often it asks, so that it is told once a minute for each credential. */
const TOLD_EVERY_MS = 60_000
const REMEMBERED_MAX = 10_000
const told = new WeakMap<Database, Map<string, number>>()

/** Leaves a notice for the audit trail, at most once a minute for each credential. Throws what the database throws. */
export async function auditUnheard(
  database: Database,
  { tenant, credentialType, credentialId, actor }: Unheard,
): Promise<void> {
  const known = told.get(database) ?? new Map<string, number>()
  told.set(database, known)
  const now = performance.now()
  if ((known.get(credentialId) ?? Number.NEGATIVE_INFINITY) > now - TOLD_EVERY_MS) return
  await inTenant(database, tenant, actor, uow =>
    emit(uow, {
      type: `${credentialType}.ORIGINAL_USER_IGNORED`,
      objectId: credentialId,
      data: { object_type: credentialType, id: credentialId },
      previous: null,
    }),
  )
  if (known.size >= REMEMBERED_MAX) known.clear()
  known.set(credentialId, now)
}
