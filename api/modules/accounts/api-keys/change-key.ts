// Changes a key, and ends it. What a key may do is fixed when it is made; an ended key never comes back, since anyone who found it
// in the meantime would come back with it.
import { isDeepStrictEqual } from 'node:util'
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { saveChange } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { viewOf } from '../../../resource/views.ts'
import { hasAdministrator } from '../roles/administrators.ts'
import { apiKeyResource } from './api-key.ts'
import { refuseUsersOf } from './create-key.ts'
import { requireMembers } from './require-members.ts'
import { type ApiKey, apiKeys } from './table.ts'

export type KeyPatch = {
  readonly description?: string | null | undefined
  readonly active?: boolean | undefined
  readonly original_user_ids?: readonly string[] | null | undefined
}

/**
 * The view of the key after the change; `active: false` ends it for good. Throws RESOURCE_NOT_FOUND, INVALID_FIELD, or
 * INVALID_OPERATION for a key that has ended, and for the last way in. Emits UPDATED when something changed.
 */
export async function changeKey(uow: Uow, id: string, patch: KeyPatch, declared: DeclaredPermissions): Promise<Row> {
  const previous = await lockOne(uow, apiKeyResource, id)
  if (!previous) throw notFound(apiKeyResource, id)
  if (patch.active === true && !previous.active) {
    throw new AppError('INVALID_OPERATION', 'A key that was revoked cannot be used again; create another one.', {
      field: 'active',
    })
  }
  const next = { ...previous }
  if (patch.description !== undefined) next.description = patch.description
  if (patch.original_user_ids !== undefined) next.original_user_ids = [...(patch.original_user_ids ?? [])]
  if (!isDeepStrictEqual(next.original_user_ids, previous.original_user_ids)) {
    refuseUsersOf(previous.type, next.original_user_ids)
    await requireMembers(uow, next.original_user_ids)
  }
  if (patch.active === false && previous.active) {
    await keepAWayIn(uow, previous, declared)
    next.revoked_at = formatInstant(uow.now)
  }
  if (isDeepStrictEqual(next, previous)) return await viewOf(uow, apiKeyResource, previous)
  const { description, original_user_ids, revoked_at } = next
  const row = await saveChange(uow, apiKeyResource, previous, { description, original_user_ids, revoked_at })
  return await viewOf(uow, apiKeyResource, row)
}

/** Throws INVALID_OPERATION when neither a key nor a user of this tenant could make another key afterwards. */
async function keepAWayIn(uow: Uow, key: ApiKey, declared: DeclaredPermissions): Promise<void> {
  if (key.role_type !== 'ADMINISTRATOR') return
  // Asked first, for what it holds: keys that are ended at the same time must not each take the other for the one that stays.
  const userLeft = await hasAdministrator(uow, declared)
  const others = await uow.tx.$count(
    apiKeys,
    and(
      inThisTenant(uow, apiKeys),
      ne(apiKeys.id, key.id),
      eq(apiKeys.role_type, 'ADMINISTRATOR'),
      eq(apiKeys.active, true),
    ),
  )
  if (userLeft || others > 0) return
  const message = 'It is the last key of role ADMINISTRATOR, and no user administers this platform; make another first.'
  throw new AppError('INVALID_OPERATION', message, { field: 'active' })
}
