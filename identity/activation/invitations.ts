// Invitations to a platform, as the person sees them who was invited. What a tenant stores of them is the api's.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Environment } from '../../shared/tenant.ts'
import type { InvitationKey } from '../mail/one-time-links.ts'
import { writeTenantNotices } from '../store/notices.ts'

export type PendingInvitation = { readonly key: InvitationKey; readonly platformName: string }

type Row = { platform_id: string; environment: Environment; id: string; name: string }

/** The invitations a user has not answered, the oldest first. */
export async function pendingInvitations(tx: SystemTransaction, userId: string): Promise<PendingInvitation[]> {
  const { rows } = await tx.execute<Row>(sql`
    select i.platform_id, i.environment, i.id, p.name from user_invitations i
    join platforms p on p.platform_id = i.platform_id and p.environment = i.environment
    where i.user_id = ${userId} and i.revoked_at is null and i.accepted_at is null order by i.created_at, i.id limit 50`)
  return rows.map(row => ({
    key: { platformId: row.platform_id, environment: row.environment, id: row.id },
    platformName: row.name,
  }))
}

/** Accepts an invitation, once; false when it is not this user's, was withdrawn, or was accepted before. */
export async function acceptInvitation(
  tx: SystemTransaction,
  { key, userId, requestId }: { readonly key: InvitationKey; readonly userId: string; readonly requestId: string },
): Promise<boolean> {
  const { platformId, environment, id } = key
  const { rows } = await tx.execute(sql`
    update user_invitations set accepted_at = identity_now(), updated_at = identity_now()
    where platform_id = ${platformId} and environment = ${environment} and id = ${id} and user_id = ${userId}
      and revoked_at is null and accepted_at is null returning 1`)
  if (rows.length === 0) return false
  const data = { object_type: 'USER_INVITATION', id, user_id: userId }
  const event = { type: 'USER_INVITATION.ACCEPTED', objectId: id, data, previous: null } as const
  await writeTenantNotices(tx, [key], { actorId: userId, requestId }, event)
  return true
}

/** How a form names an invitation. */
export const formatInvitationKey = ({ platformId, environment, id }: InvitationKey): string =>
  `${platformId}:${environment}:${id}`

/** The invitation a form names, or null. */
export function parseInvitationKey(name: string): InvitationKey | null {
  const [platformId = '', environment, id = '', ...rest] = name.split(':')
  if (environment !== 'TEST' && environment !== 'LIVE') return null
  return rest.length === 0 ? { platformId, environment, id } : null
}
