// The refresh grant: a new token each time, the same one again for a lost answer, and the end of the family for a stolen one
// (security 1.2, items 28 to 31).
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { seal, unseal } from '../../shared/secrets/seal.ts'
import { scopesOfRefresh } from '../checks/scope.ts'
import { hostOfClient } from '../client-documents/client-id-url.ts'
import { queueNotice } from '../mail/outbox.ts'
import { OAuthError } from '../oauth-error.ts'
import { findClient } from '../store/clients.ts'
import { type LockedGrant, lockGrant, removeLostPlatforms, revokeGrant } from '../store/grants.ts'
import { newSecretToken, sha256Of } from '../store/secret-token.ts'
import { decideRefresh, type Refusal, type StoredRefreshToken } from './decide.ts'
import { insertRefreshToken, type TokenContext, type TokenResponse, tokenResponse } from './token-response.ts'

export type RefreshRequest = {
  readonly clientId: string
  readonly refreshToken: string
  readonly scope: string | undefined
  readonly resource: string
}

const PURPOSE = 'refresh-successor'
const UNKNOWN: Refusal = {
  kind: 'refuse',
  error: 'invalid_grant',
  message: 'The refresh token is not valid: it is unknown, expired, revoked, or was replaced.',
}

export type RefreshTokenReuse = { readonly userId: string; readonly grantId: string }

/** Exchanges a refresh token. Throws `invalid_grant` or `invalid_scope`; `onReuse` is called for a family that was ended. */
export async function refresh(
  database: Database,
  context: TokenContext,
  request: RefreshRequest,
  onReuse: (found: RefreshTokenReuse) => void,
): Promise<TokenResponse> {
  const outcome = await asSystem(database, 'identity', tx => exchange(tx, context, request))
  if (!('kind' in outcome)) return outcome
  if (outcome.reuse) onReuse(outcome.reuse)
  throw new OAuthError(outcome.error, outcome.message)
}

type TokenRow = {
  grant_id: string
  expired: boolean
  rotated_ago: number | null
  successor_sha256: string | null
  successor_sealed: string | null
  successor_used: boolean
}
type Refused = Refusal & { readonly reuse?: RefreshTokenReuse }

async function exchange(
  tx: SystemTransaction,
  context: TokenContext,
  request: RefreshRequest,
): Promise<TokenResponse | Refused> {
  const sha256 = sha256Of(request.refreshToken)
  // The grant first: every token call takes its locks in this order.
  const found = await tx.execute<{ grant_id: string }>(
    sql`select grant_id from oauth_refresh_tokens where token_sha256 = ${sha256}`,
  )
  const grantId = found.rows[0]?.grant_id
  if (grantId === undefined) return UNKNOWN
  const grant = await lockGrant(tx, grantId)
  const row = await readToken(tx, sha256)
  const decision = decideRefresh(storedOf(row), grant, { clientId: request.clientId, resource: request.resource })
  if (decision.kind === 'refuse') {
    const by = { requestId: context.requestId, actorId: null }
    if (decision.consequence === 'revoke-empty') await revokeGrant(tx, grant.id, 'NO_PLATFORM_LEFT', by)
    if (decision.consequence !== 'revoke-reused') return decision
    await revokeGrant(tx, grant.id, 'REFRESH_TOKEN_REUSED', by)
    const client = await findClient(tx, grant.clientId)
    const host = hostOfClient(grant.clientId)
    const name = host === null ? client?.name : `${client?.name} (${host})`
    await queueNotice(tx, { kind: 'TOKEN_REUSED', userId: grant.userId, data: { client_name: name } })
    return { ...decision, reuse: { userId: grant.userId, grantId: grant.id } }
  }
  const scopes = scopesOfRefresh(request.scope, grant.scopes)
  await removeLostPlatforms(tx, grant)
  const successor =
    decision.kind === 'rotate'
      ? await rotate(tx, request.refreshToken, sha256, grant)
      : await unseal(request.refreshToken, PURPOSE, row.successor_sealed ?? '')
  return await tokenResponse(tx, context, grant, successor, scopes)
}

async function readToken(tx: SystemTransaction, sha256: string): Promise<TokenRow> {
  const { rows } = await tx.execute<TokenRow>(sql`
    select t.grant_id, t.expires_at <= identity_now() as expired, t.successor_sha256, t.successor_sealed,
      extract(epoch from identity_now() - t.rotated_at)::float8 as rotated_ago,
      exists (select from oauth_refresh_tokens s where s.token_sha256 = t.successor_sha256 and s.rotated_at is not null) as successor_used
    from oauth_refresh_tokens t where t.token_sha256 = ${sha256}`)
  const [row] = rows
  if (!row) throw new Error('a refresh token vanished under its lock')
  return row
}

const storedOf = (row: TokenRow): StoredRefreshToken => ({
  expired: row.expired,
  rotated: row.rotated_ago === null ? null : { secondsAgo: row.rotated_ago, successorUsed: row.successor_used },
})

async function rotate(tx: SystemTransaction, token: string, sha256: string, grant: LockedGrant): Promise<string> {
  const successor = newSecretToken()
  await insertRefreshToken(tx, grant.id, successor.sha256)
  await tx.execute(sql`
    update oauth_refresh_tokens set rotated_at = identity_now(), successor_sha256 = ${successor.sha256},
      successor_sealed = ${await seal(token, PURPOSE, successor.text)}
    where token_sha256 = ${sha256}`)
  return successor.text
}
