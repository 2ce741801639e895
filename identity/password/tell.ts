// A changed password is told to its user by mail, and stands in the audit trail of every tenant they belong to.
import { sql } from 'drizzle-orm'
import { membershipsOf } from '../../shared/access/memberships.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import { queueNotice } from '../mail/outbox.ts'

/** Tells of a password that its user changed or reset. Nothing of the password itself is in it. */
export async function tellPasswordChange(
  tx: SystemTransaction,
  { userId, requestId }: { readonly userId: string; readonly requestId: string },
): Promise<void> {
  await queueNotice(tx, { kind: 'PASSWORD_CHANGED', userId })
  const view = JSON.stringify({ object_type: 'USER', id: userId })
  for (const { platformId, environment } of await membershipsOf(tx, userId)) {
    await tx.execute(sql`
      insert into outbox (platform_id, environment, id, type, object_type, object_id, data, request_id, actor_id, created_at)
      values (${platformId}, ${environment}, ${newId('evnt')}, 'USER.PASSWORD_CHANGED', 'USER', ${userId}, ${view}::jsonb,
        ${requestId}, ${userId}, identity_now())`)
  }
}
