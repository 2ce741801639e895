// What a token call answers, and what it needs to make it.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { SigningKey } from '../keys/keystore.ts'
import type { LockedGrant } from '../store/grants.ts'
import { issueAccessToken } from '../tokens/issue.ts'
import { LIFETIMES } from './decide.ts'

export type TokenResponse = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token: string
  readonly scope: string
}

export type TokenContext = {
  readonly issuer: string
  readonly signing: SigningKey
  readonly requestId: string
}

/** The answer for a grant: a fresh access token beside the given refresh token. */
export async function tokenResponse(
  tx: SystemTransaction,
  context: TokenContext,
  grant: LockedGrant,
  refreshToken: string,
  scopes: readonly string[],
): Promise<TokenResponse> {
  const { rows } = await tx.execute<{ now: number }>(sql`select floor(extract(epoch from identity_now()))::int8 as now`)
  const accessToken = await issueAccessToken(context.signing, {
    issuer: context.issuer,
    resource: grant.resource,
    clientId: grant.clientId,
    userId: grant.userId,
    grantId: grant.id,
    scopes,
    platforms: grant.platforms.map(({ platformId, environment }) => ({ id: platformId, environment })),
    issuedAt: Number(rows[0]?.now),
  })
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: LIFETIMES.accessToken,
    refresh_token: refreshToken,
    scope: scopes.join(' '),
  }
}

/** Stores a refresh token of a grant: idle for thirty days at most, and never longer than the grant. */
export const insertRefreshToken = async (tx: SystemTransaction, grantId: string, sha256: string): Promise<void> => {
  await tx.execute(sql`
    insert into oauth_refresh_tokens (token_sha256, grant_id, expires_at)
    select ${sha256}, id, least(expires_at, identity_now() + make_interval(secs => ${LIFETIMES.refreshIdle}))
    from oauth_grants where id = ${grantId}`)
  await tx.execute(sql`update oauth_grants set last_used_at = identity_now() where id = ${grantId}`)
}
