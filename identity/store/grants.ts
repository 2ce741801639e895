// Grants: made by a consent, read under a row lock by every token call, ended for good. Each change of one is written
// to the outbox of every tenant it reaches, and so stands in the audit trail.
import { sql } from 'drizzle-orm'
import { type Membership, membershipsOf } from '../../shared/access/memberships.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Environment } from '../../shared/tenant.ts'
import { LIFETIMES, type StoredGrant } from '../grants/decide.ts'
import { writeTenantNotices } from './notices.ts'
import type { AuthorizationRequest } from './requests.ts'

export type GrantPlatform = { readonly platformId: string; readonly environment: Environment }

export type RevokeReason =
  | 'USER'
  | 'CLIENT'
  | 'CODE_REUSED'
  | 'REFRESH_TOKEN_REUSED'
  | 'NO_PLATFORM_LEFT'
  | 'USER_REMOVED'

const samePlatform = (a: GrantPlatform, b: GrantPlatform): boolean =>
  a.platformId === b.platformId && a.environment === b.environment

/** Makes the grant of an approved request, with its one-time code. `codeSha256` is the hash of the code the browser carries. */
export async function insertGrant(
  tx: SystemTransaction,
  input: {
    readonly request: AuthorizationRequest
    readonly userId: string
    readonly platforms: readonly GrantPlatform[]
    readonly codeSha256: string
    readonly requestId: string
  },
): Promise<string> {
  const { request, userId, platforms } = input
  const id = newId('gran')
  const scopes = sql.join(
    request.scopes.map(scope => sql`${scope}`),
    sql`, `,
  )
  await tx.execute(sql`
    insert into oauth_grants (id, client_id, user_id, scopes, resource, expires_at)
    values (${id}, ${request.clientId}, ${userId}, array[${scopes}]::text[], ${request.resource},
      identity_now() + make_interval(secs => ${LIFETIMES.refreshAbsolute}))`)
  for (const { platformId, environment } of platforms) {
    await tx.execute(sql`
      insert into oauth_grant_platforms (platform_id, environment, grant_id) values (${platformId}, ${environment}, ${id})`)
  }
  await tx.execute(sql`
    insert into oauth_codes (code_sha256, grant_id, redirect_uri, redirect_uri_given, code_challenge, expires_at)
    values (${input.codeSha256}, ${id}, ${request.redirectUri}, ${request.redirectUriGiven}, ${request.codeChallenge},
      identity_now() + make_interval(secs => ${LIFETIMES.code}))`)
  await tell(tx, platforms, {
    type: 'OAUTH_GRANT.CREATED',
    grantId: id,
    data: { client_id: request.clientId, client_name: request.clientName, user_id: userId, scopes: request.scopes },
    requestId: input.requestId,
    actorId: userId,
  })
  return id
}

export type LockedGrant = StoredGrant & {
  readonly id: string
  readonly userId: string
  readonly scopes: readonly string[]
  /** Those of the grant that the user is still a member of. */
  readonly platforms: readonly GrantPlatform[]
}

type GrantRow = {
  client_id: string
  user_id: string
  scopes: string[]
  resource: string
  revoked: boolean
  expired: boolean
}

/** A grant, locked until the transaction ends: a refresh in flight cannot outlive a revocation (security 1.2, item 30). */
export async function lockGrant(tx: SystemTransaction, id: string): Promise<LockedGrant> {
  const { rows } = await tx.execute<GrantRow>(sql`
    select client_id, user_id, scopes, resource, revoked_at is not null as revoked, expires_at <= identity_now() as expired
    from oauth_grants where id = ${id} for update`)
  const [row] = rows
  if (!row) throw new Error(`grant ${id} is not there`)
  const [memberships, granted] = [await membershipsOf(tx, row.user_id), await platformsOf(tx, id)]
  const platforms = granted.filter(platform => memberships.some(member => samePlatform(member, platform)))
  return {
    id,
    clientId: row.client_id,
    userId: row.user_id,
    scopes: row.scopes,
    resource: row.resource,
    revoked: row.revoked,
    expired: row.expired,
    reachesSomething: platforms.length > 0,
    platforms,
  }
}

async function platformsOf(tx: SystemTransaction, id: string): Promise<GrantPlatform[]> {
  const { rows } = await tx.execute<{ platform_id: string; environment: Environment }>(
    sql`select platform_id, environment from oauth_grant_platforms where grant_id = ${id} order by platform_id, environment`,
  )
  return rows.map(row => ({ platformId: row.platform_id, environment: row.environment }))
}

/** Removes the platforms of a grant that its user has lost since; they do not come back by themselves. */
export async function removeLostPlatforms(tx: SystemTransaction, grant: LockedGrant): Promise<void> {
  const lost = (await platformsOf(tx, grant.id)).filter(each => !grant.platforms.some(kept => samePlatform(kept, each)))
  for (const { platformId, environment } of lost) {
    await tx.execute(sql`
      delete from oauth_grant_platforms
      where grant_id = ${grant.id} and platform_id = ${platformId} and environment = ${environment}`)
  }
}

/** Ends a grant, once. Access tokens of it are refused within seconds, refresh tokens and codes at once. */
export async function revokeGrant(
  tx: SystemTransaction,
  grantId: string,
  reason: RevokeReason,
  by: { readonly requestId: string; readonly actorId: string | null },
): Promise<boolean> {
  const { rows } = await tx.execute<{ client_id: string; user_id: string }>(sql`
    update oauth_grants set revoked_at = identity_now(), revoke_reason = ${reason}
    where id = ${grantId} and revoked_at is null returning client_id, user_id`)
  const [row] = rows
  if (!row) return false
  const data = { client_id: row.client_id, user_id: row.user_id, revoke_reason: reason }
  await tell(tx, await platformsOf(tx, grantId), { type: 'OAUTH_GRANT.REVOKED', grantId, data, ...by })
  return true
}

async function tell(
  tx: SystemTransaction,
  platforms: readonly GrantPlatform[],
  notice: {
    readonly type: 'OAUTH_GRANT.CREATED' | 'OAUTH_GRANT.REVOKED'
    readonly grantId: string
    readonly data: Readonly<Record<string, unknown>>
    readonly requestId: string
    readonly actorId: string | null
  },
): Promise<void> {
  const { type, grantId, data } = notice
  const event = { type, objectId: grantId, data: { object_type: 'OAUTH_GRANT', id: grantId, ...data }, previous: null }
  await writeTenantNotices(tx, platforms, notice, event)
}

/** The live memberships chosen by a user out of their own; null when one of the choices is not theirs. */
export function chosenPlatforms(
  memberships: readonly Membership[],
  choices: readonly string[],
): GrantPlatform[] | null {
  const chosen = [...new Set(choices)].map(choice => memberships.find(each => platformChoice(each) === choice))
  return chosen.every(each => each !== undefined) ? chosen : null
}

/** How a form names one platform in one environment. */
export const platformChoice = ({ platformId, environment }: GrantPlatform): string => `${platformId}:${environment}`
