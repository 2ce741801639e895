// Links that work once. The secret in one is in the mail alone; we keep its SHA-256.
import { sql } from 'drizzle-orm'
import { INVITATION_DAYS } from '../../shared/access/invitation-life.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Environment } from '../../shared/tenant.ts'
import { newSecretToken, sha256Of } from '../store/secret-token.ts'

export type LinkPurpose = 'ACTIVATION' | 'PASSWORD_RESET'

/** Minutes. A password is reset while the user reads mail; an invitation may wait over a weekend. */
export const LINK_MINUTES: Readonly<Record<LinkPurpose, number>> = {
  ACTIVATION: INVITATION_DAYS * 24 * 60,
  PASSWORD_RESET: 30,
}

export type InvitationKey = {
  readonly platformId: string
  readonly environment: Environment
  readonly id: string
}
export type NewLink =
  | { readonly purpose: 'PASSWORD_RESET'; readonly userId: string }
  | { readonly purpose: 'ACTIVATION'; readonly userId: string; readonly invitation: InvitationKey }
export type OpenLink = {
  readonly userId: string
  readonly username: string
  /** What a link of activation accepts. */
  readonly invitation: InvitationKey | null
}

const PATHS: Readonly<Record<LinkPurpose, string>> = { ACTIVATION: '/activate', PASSWORD_RESET: '/reset-password' }

/** Makes a link and gives its address, which goes into the mail and nowhere else. */
export async function createLink(tx: SystemTransaction, link: NewLink, identityUrl: string): Promise<string> {
  const token = newSecretToken()
  const { platformId, environment, id } =
    link.purpose === 'ACTIVATION' ? link.invitation : { platformId: null, environment: null, id: null }
  await tx.execute(sql`
    insert into one_time_links (token_sha256, purpose, user_id, platform_id, environment, invitation_id, expires_at)
    values (${token.sha256}, ${link.purpose}, ${link.userId}, ${platformId}, ${environment}, ${id},
      identity_now() + make_interval(mins => ${LINK_MINUTES[link.purpose]}))`)
  return `${identityUrl}${PATHS[link.purpose]}?token=${token.text}`
}

/** What makes a link work: unused, not too old, its user as it was, and its invitation neither revoked nor accepted. */
const works = (token: string, purpose: LinkPurpose) => sql`
  l.token_sha256 = ${sha256Of(token)} and l.purpose = ${purpose} and l.used_at is null and l.expires_at > identity_now()
  and u.id = l.user_id and u.status = ${purpose === 'ACTIVATION' ? 'INVITED' : 'ACTIVE'}
  and (l.invitation_id is null or exists (select from user_invitations i where i.platform_id = l.platform_id
    and i.environment = l.environment and i.id = l.invitation_id and i.user_id = l.user_id
    and i.revoked_at is null and i.accepted_at is null))`

type Row = {
  user_id: string
  username: string
  platform_id: string | null
  environment: Environment | null
  invitation_id: string | null
}
function toOpenLink(row: Row | undefined): OpenLink | null {
  if (!row) return null
  const { platform_id: platformId, environment, invitation_id: id } = row
  const invitation = platformId && environment && id ? { platformId, environment, id } : null
  return { userId: row.user_id, username: row.username, invitation }
}

/** Looks at a link without using it; null when it does not work, for whatever reason. */
export async function readLink(tx: SystemTransaction, token: string, purpose: LinkPurpose): Promise<OpenLink | null> {
  const { rows } = await tx.execute<Row>(sql`
    select l.user_id, u.username, l.platform_id, l.environment, l.invitation_id
    from one_time_links l, users u where ${works(token, purpose)}`)
  return toOpenLink(rows[0])
}

/** Uses a link up; null when it does not work. Of any number at once, one gets it. */
export async function consumeLink(
  tx: SystemTransaction,
  token: string,
  purpose: LinkPurpose,
): Promise<OpenLink | null> {
  const { rows } = await tx.execute<Row>(sql`
    update one_time_links l set used_at = identity_now() from users u where ${works(token, purpose)}
    returning l.user_id, u.username, l.platform_id, l.environment, l.invitation_id`)
  return toOpenLink(rows[0])
}

/** Ends every other link of a user: who has a new password needs none of them. */
export const expireLinksOf = async (tx: SystemTransaction, userId: string): Promise<void> => {
  await tx.execute(
    sql`update one_time_links set used_at = identity_now() where user_id = ${userId} and used_at is null`,
  )
}

/** Forgets links that are long over. */
export const removeOldLinks = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`delete from one_time_links where expires_at < identity_now() - interval '1 day'`)
}
