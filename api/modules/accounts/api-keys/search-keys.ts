// Finds one key by what is known of it.
import { and, desc, eq, or, type SQL, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { viewOf } from '../../../resource/views.ts'
import { apiKeyResource } from './api-key.ts'
import { type ApiKey, apiKeys } from './table.ts'

export type KeySearch = {
  readonly resource_id?: string | null | undefined
  readonly username?: string | null | undefined
  readonly user_type?: ApiKey['type'] | null | undefined
  readonly include_inactive?: boolean | null | undefined
}

/** The view of the newest key that matches everything given. Throws RESOURCE_NOT_FOUND when there is none. */
export async function searchKeys(uow: ReadUow, search: KeySearch): Promise<Row> {
  const [row] = await uow.tx
    .select()
    .from(apiKeys)
    .where(and(inThisTenant(uow, apiKeys), ...conditionsOf(search)))
    .orderBy(desc(apiKeys.created_at), desc(apiKeys.id))
    .limit(1)
  if (row) return await viewOf(uow, apiKeyResource, row)
  throw new AppError('RESOURCE_NOT_FOUND', 'There is no API_KEY that matches all of this.', {
    resourceType: 'API_KEY',
  })
}

function conditionsOf({ resource_id, username, user_type, include_inactive }: KeySearch): (SQL | undefined)[] {
  return [
    resource_id ? or(eq(apiKeys.id, idOf('akey', resource_id)), eq(apiKeys.display_prefix, resource_id)) : undefined,
    // The names of users who are members here; of others a tenant sees none.
    username
      ? sql`${apiKeys.created_by} in (select u.id from users u where u.username = lower(btrim(${username})))`
      : undefined,
    user_type ? eq(apiKeys.type, user_type) : undefined,
    include_inactive ? undefined : eq(apiKeys.active, true),
  ]
}
