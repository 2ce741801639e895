// Makes a key. Its text is in the answer and in nothing that is kept: neither the table, nor the notice of the change, nor what
// a repeat of the Idempotency-Key is answered.
import { sql } from 'drizzle-orm'
import { newApiKey } from '../../../../shared/access/api-key.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { emit } from '../../../outbox.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { followSave, guardSave } from '../../../resource/rules.ts'
import { getOne } from '../../../resource/store.ts'
import { viewOf } from '../../../resource/views.ts'
import { apiKeyResource } from './api-key.ts'
import { requireMembers } from './require-members.ts'
import type { ApiKey } from './table.ts'

export type NewKey = {
  readonly type?: ApiKey['type'] | null | undefined
  readonly role_type?: ApiKey['role_type'] | null | undefined
  readonly description?: string | null | undefined
  readonly original_user_ids?: readonly string[] | null | undefined
}

/**
 * The view of a new key, with its text. `declared` are the permissions of all routes. Throws USER_NOT_ALLOWED for a key that
 * may do what its maker may not, INVALID_FIELD or RESOURCE_NOT_FOUND with the field. Emits CREATED.
 */
export async function createKey(uow: Uow, body: NewKey, declared: DeclaredPermissions): Promise<Row> {
  const { tenant, actor } = uow
  const type = body.type ?? 'STANDARD'
  // Left out, it is the least of the two.
  const roleType = body.role_type ?? 'READ_ONLY'
  const userIds = body.original_user_ids ?? []
  refuseUsersOf(type, userIds)
  refuseMorePower(uow, roleType, declared)
  await requireMembers(uow, userIds)
  const key = newApiKey(tenant.environment)
  const id = newId(apiKeyResource.idPrefix)
  const now = formatInstant(uow.now)
  await uow.tx.execute(sql`
    insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four, description, type, role_type,
      original_user_ids, created_by, created_at, updated_at)
    values (${tenant.platformId}, ${tenant.environment}, ${id}, ${key.keyId}, ${key.sha256}, ${key.displayPrefix}, ${key.lastFour},
      ${body.description ?? null}, ${type}, ${roleType}, ${sql.param(userIds)}, ${actor.id}, ${now}, ${now})`)
  const row = await getOne(uow, apiKeyResource, id)
  await guardSave(uow, apiKeyResource, row, null)
  await followSave(uow, apiKeyResource, row, null)
  const view = await viewOf(uow, apiKeyResource, row)
  await emit(uow, { type: 'API_KEY.CREATED', objectId: id, data: view, previous: null })
  return { ...view, api_key: key.text }
}

/** Throws INVALID_FIELD when a key that is no PROXY is to act for others. */
export function refuseUsersOf(type: ApiKey['type'], userIds: readonly string[]): void {
  if (type === 'PROXY' || userIds.length === 0) return
  throw new AppError('INVALID_FIELD', 'Only a key of type PROXY can act for other users.', {
    field: 'original_user_ids',
  })
}

/** Nobody makes a key that may do more than they: it would be theirs by another name, and for longer. */
function refuseMorePower({ actor }: Uow, roleType: ApiKey['role_type'], declared: DeclaredPermissions): void {
  const given = [...declared].filter(permission => roleType === 'ADMINISTRATOR' || permission.endsWith('.VIEW'))
  const lacking = given.find(permission => actor.may?.(permission) === false)
  if (lacking === undefined) return
  throw new AppError('USER_NOT_ALLOWED', `A key of role ${roleType} may do more than you: you lack ${lacking}.`, {
    field: 'role_type',
  })
}
