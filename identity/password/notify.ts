// A changed password is reported to its user by mail, and stands in the audit trail of every tenant they belong to.
import { membershipsOf } from '../../shared/access/memberships.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { queueNotice } from '../mail/outbox.ts'
import { writeTenantNotices } from '../store/notices.ts'

/** Tells of a password that its user changed or reset. Nothing of the password itself is in it. */
export async function notifyPasswordChange(
  tx: SystemTransaction,
  {
    userId,
    requestId,
    appsEnded,
  }: { readonly userId: string; readonly requestId: string; readonly appsEnded: boolean },
): Promise<void> {
  await queueNotice(tx, { kind: 'PASSWORD_CHANGED', userId, data: { apps_ended: appsEnded } })
  const data = { object_type: 'USER', id: userId }
  const event = { type: 'USER.PASSWORD_CHANGED', objectId: userId, data, previous: null } as const
  await writeTenantNotices(tx, await membershipsOf(tx, userId), { actorId: userId, requestId }, event)
}
