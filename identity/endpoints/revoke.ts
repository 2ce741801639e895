// Token revocation (RFC 7009): either token of a grant ends all of it; an unknown one is no fault.
import { sql } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import { compactVerify, createLocalJWKSet } from 'jose'
import { asSystem, type SystemTransaction } from '../../shared/database/database.ts'
import { allowAnyOrigin, preflight } from '../http/cross-origin.ts'
import { rateLimitKeyOf, sendTooManyRequests } from '../http/rate-limits.ts'
import type { Keystore } from '../keys/keystore.ts'
import { OAuthError } from '../oauth-error.ts'
import { findClient } from '../store/clients.ts'
import { revokeGrant } from '../store/grants.ts'
import { sha256Of } from '../store/secret-token.ts'
import type { OAuthDeps } from './oauth-deps.ts'
import { readCall, required } from './token.ts'

const PATH = '/v1/oauth2/revoke'
const BODY_BYTES_MAX = 8_192

export function revokeRoute(app: FastifyInstance, deps: OAuthDeps): void {
  preflight(app, PATH, 'POST')
  const options = { bodyLimit: BODY_BYTES_MAX, config: { bodyType: 'application/x-www-form-urlencoded' } } as const
  app.post(PATH, options, async (request, reply) => {
    allowAnyOrigin(reply)
    if (await sendTooManyRequests(reply, await deps.limits.token.take(rateLimitKeyOf(request)))) return reply
    const { values, clientId } = readCall(request)
    // Whatever has become of its document since: a client may always give up what it was given.
    const client = await asSystem(deps.database, 'identity', tx => findClient(tx, clientId))
    if (!client) throw new OAuthError('invalid_client', 'The client is not registered.')
    const token = required(values, 'token')
    const named = await grantNamedBy(deps.keystore, token)
    await asSystem(deps.database, 'identity', async tx => {
      const grantId = (await grantOfRefreshToken(tx, token)) ?? named
      const { rows } = await tx.execute(
        sql`select 1 from oauth_grants where id = ${grantId} and client_id = ${clientId} for update`,
      )
      // A client may not end the grant of another, and does not learn that it exists.
      if (grantId !== null && rows.length > 0)
        await revokeGrant(tx, grantId, 'CLIENT', { requestId: request.id, actorId: null })
    })
    return await reply.status(200).header('pragma', 'no-cache').send({})
  })
}

async function grantOfRefreshToken(tx: SystemTransaction, token: string): Promise<string | null> {
  const { rows } = await tx.execute<{ grant_id: string }>(
    sql`select grant_id from oauth_refresh_tokens where token_sha256 = ${sha256Of(token)}`,
  )
  return rows[0]?.grant_id ?? null
}

/** The grant of an access token that we signed, expired or not; null for anything else. */
async function grantNamedBy(keystore: Keystore, token: string): Promise<string | null> {
  try {
    const { payload } = await compactVerify(token, createLocalJWKSet({ keys: await keystore.publicKeys() }))
    const { gid }: { gid?: unknown } = JSON.parse(new TextDecoder().decode(payload))
    return typeof gid === 'string' ? gid : null
  } catch {
    return null // not a token of ours: nothing to revoke, and nothing to say
  }
}
