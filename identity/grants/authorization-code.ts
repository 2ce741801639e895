// The authorization code grant, in the order of the specification (security 1.2, items 23 to 26).
import { sql } from 'drizzle-orm'
import { asSystem, type Database, type SystemTransaction } from '../../shared/database/database.ts'
import { verifierMatches } from '../checks/pkce.ts'
import { matchesRedirectUri } from '../checks/redirect-uri.ts'
import { OAuthError } from '../oauth-error.ts'
import { lockGrant, revokeGrant } from '../store/grants.ts'
import { newSecretToken, sha256Of } from '../store/secret-token.ts'
import { decideCode, type Refusal } from './decide.ts'
import { insertRefreshToken, type TokenContext, type TokenResponse, tokenResponse } from './token-response.ts'

export type CodeRequest = {
  readonly clientId: string
  readonly code: string
  readonly redirectUri: string | undefined
  /** Those that the client has now. */
  readonly clientRedirectUris: readonly string[]
  readonly codeVerifier: string
  readonly resource: string
}

const UNKNOWN: Refusal = {
  kind: 'refuse',
  error: 'invalid_grant',
  message: 'The code is not valid: it is unknown, used, expired, or was made for another request.',
}

/** Exchanges a code for tokens, once. Throws `invalid_grant`; what a refusal brings about is kept. */
export async function redeemCode(
  database: Database,
  context: TokenContext,
  request: CodeRequest,
): Promise<TokenResponse> {
  const outcome = await asSystem(database, 'identity', tx => redeem(tx, context, request))
  if ('kind' in outcome) throw new OAuthError(outcome.error, outcome.message)
  return outcome
}

type CodeRow = {
  grant_id: string
  redirect_uri: string
  redirect_uri_given: boolean
  code_challenge: string
  wrong_tries: number
  expired: boolean
  used: boolean
}

async function redeem(
  tx: SystemTransaction,
  context: TokenContext,
  request: CodeRequest,
): Promise<TokenResponse | Refusal> {
  const sha256 = sha256Of(request.code)
  const { rows } = await tx.execute<CodeRow>(sql`
    select grant_id, redirect_uri, redirect_uri_given, code_challenge, wrong_tries, expires_at <= identity_now() as expired, used_at is not null as used
    from oauth_codes where code_sha256 = ${sha256} for update`)
  const [row] = rows
  if (!row) return UNKNOWN
  const grant = await lockGrant(tx, row.grant_id)
  const decision = decideCode(
    {
      redirectUri: row.redirect_uri,
      redirectUriGiven: row.redirect_uri_given,
      isStillListed: matchesRedirectUri(row.redirect_uri, request.clientRedirectUris),
      expired: row.expired,
      used: row.used,
      wrongTries: row.wrong_tries,
    },
    grant,
    {
      clientId: request.clientId,
      redirectUri: request.redirectUri,
      resource: request.resource,
      verifierMatches: verifierMatches(request.codeVerifier, row.code_challenge),
    },
  )
  if (decision.kind === 'refuse') {
    if (decision.consequence === 'count-try')
      await tx.execute(sql`update oauth_codes set wrong_tries = wrong_tries + 1 where code_sha256 = ${sha256}`)
    if (decision.consequence === 'revoke-grant')
      await revokeGrant(tx, grant.id, 'CODE_REUSED', { requestId: context.requestId, actorId: null })
    return decision
  }
  const used = await tx.execute(sql`
    update oauth_codes set used_at = identity_now()
    where code_sha256 = ${sha256} and used_at is null and expires_at > identity_now() returning 1`)
  if (used.rows.length === 0) return UNKNOWN
  const token = newSecretToken()
  await insertRefreshToken(tx, grant.id, token.sha256)
  return await tokenResponse(tx, context, grant, token.text, grant.scopes)
}
