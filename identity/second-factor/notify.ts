// A change of somebody's second factors stands in the audit trail of every tenant they belong to: it is their administrators'
// accounts that are at stake.
import { sql } from 'drizzle-orm'
import { membershipsOf } from '../../shared/access/memberships.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { writeNotice } from '../../shared/database/outbox.ts'

export type FactorChange =
  | 'AUTHENTICATOR_ADDED'
  | 'AUTHENTICATOR_REMOVED'
  | 'PASSKEY_ADDED'
  | 'PASSKEY_REMOVED'
  | 'RECOVERY_CODES_REPLACED'

/** Notes the change, made by the user themselves, with each tenant. Nothing of the factor itself is in it. */
export async function notifyFactorChange(
  tx: SystemTransaction,
  { userId, change, requestId }: { readonly userId: string; readonly change: FactorChange; readonly requestId: string },
): Promise<void> {
  const actor = { id: userId, requestId }
  const data = { object_type: 'USER', id: userId, second_factor_change: change }
  for (const { platformId, environment } of await membershipsOf(tx, userId)) {
    const of = { tenant: { platformId, environment }, actor, at: sql`identity_now()` }
    await writeNotice(tx, of, { type: `USER.${change}`, objectId: userId, data, previous: null })
  }
}
