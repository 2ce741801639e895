// A change of a user's second factors stands in the audit trail of every tenant they belong to: it is their administrators'
// accounts that are at stake.
import { membershipsOf } from '../../shared/access/memberships.ts'
import type { EventType } from '../../shared/contracts/event-types.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { writeTenantNotices } from '../store/notices.ts'

export type FactorChange =
  | 'AUTHENTICATOR_ADDED'
  | 'AUTHENTICATOR_REMOVED'
  | 'PASSKEY_ADDED'
  | 'PASSKEY_REMOVED'
  | 'RECOVERY_CODES_REPLACED'

const CHANGE_EVENTS: Readonly<Record<FactorChange, EventType>> = {
  AUTHENTICATOR_ADDED: 'USER.AUTHENTICATOR_ADDED',
  AUTHENTICATOR_REMOVED: 'USER.AUTHENTICATOR_REMOVED',
  PASSKEY_ADDED: 'USER.PASSKEY_ADDED',
  PASSKEY_REMOVED: 'USER.PASSKEY_REMOVED',
  RECOVERY_CODES_REPLACED: 'USER.RECOVERY_CODES_REPLACED',
}

/** Notes the change, made by the user themselves, with each tenant. Nothing of the factor itself is in it. */
export async function notifyFactorChange(
  tx: SystemTransaction,
  { userId, change, requestId }: { readonly userId: string; readonly change: FactorChange; readonly requestId: string },
): Promise<void> {
  const data = { object_type: 'USER', id: userId, second_factor_change: change }
  const event = { type: CHANGE_EVENTS[change], objectId: userId, data, previous: null }
  await writeTenantNotices(tx, await membershipsOf(tx, userId), { actorId: userId, requestId }, event)
}
