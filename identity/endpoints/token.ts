// The token endpoint: form in, JSON out, public clients only.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { asSystem } from '../../shared/database/database.ts'
import { checkResource } from '../checks/resource.ts'
import { redeemCode } from '../grants/authorization-code.ts'
import { refresh } from '../grants/refresh-token.ts'
import type { TokenAnswer } from '../grants/token-answer.ts'
import { openToAll, preflight } from '../http/cross-origin.ts'
import { addressOf, refuseTooMany } from '../http/rate-limits.ts'
import { singleValues } from '../http/single-values.ts'
import { OAuthError } from '../oauth-error.ts'
import { findClient } from '../store/clients.ts'
import type { OAuthDeps } from './oauth-deps.ts'

const PATH = '/v1/oauth2/token'
const BODY_BYTES_MAX = 8_192

export function tokenRoute(app: FastifyInstance, deps: OAuthDeps): void {
  preflight(app, PATH, 'POST')
  const options = { bodyLimit: BODY_BYTES_MAX, config: { bodyType: 'application/x-www-form-urlencoded' } } as const
  app.post(PATH, options, async (request, reply) => {
    openToAll(reply)
    const address = addressOf(request)
    if (await refuseTooMany(reply, await deps.limits.token.take(address))) return reply
    if (await refuseTooMany(reply, await deps.limits.tokenRefused.blocked(address))) return reply
    try {
      return await reply.header('pragma', 'no-cache').send(await exchange(deps, request))
    } catch (error) {
      if (error instanceof OAuthError) await deps.limits.tokenRefused.take(address)
      throw error
    }
  })
}

async function exchange(deps: OAuthDeps, request: FastifyRequest): Promise<TokenAnswer> {
  const { values } = await readCall(deps, request)
  const resource = checkResource(values['resource'], deps.baseUrl)
  const clientId = values['client_id'] ?? ''
  const context = { issuer: deps.identityUrl, signing: await deps.keystore.signingKey(), requestId: request.id }
  switch (values['grant_type']) {
    case 'authorization_code':
      return await redeemCode(deps.database, context, {
        clientId,
        resource,
        code: required(values, 'code'),
        codeVerifier: required(values, 'code_verifier'),
        redirectUri: values['redirect_uri'],
      })
    case 'refresh_token':
      return await refresh(
        deps.database,
        context,
        { clientId, resource, refreshToken: required(values, 'refresh_token'), scope: values['scope'] },
        found => deps.onTokenReuse(found),
      )
    default:
      throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
  }
}

/** The form of a token or revocation call by a registered public client. Throws `invalid_request` or `invalid_client`. */
export async function readCall(
  deps: OAuthDeps,
  request: FastifyRequest,
): Promise<{ values: Readonly<Record<string, string | undefined>> }> {
  if (request.headers.authorization !== undefined) {
    throw new OAuthError(
      'invalid_client',
      'Clients have no secret here: send client_id in the form and no Authorization.',
    )
  }
  const { values, repeated } = singleValues(request.body)
  if (repeated !== null) throw new OAuthError('invalid_request', `${repeated} was given more than once.`)
  const clientId = required(values, 'client_id')
  const client = await asSystem(deps.database, 'identity', tx => findClient(tx, clientId))
  if (!client) throw new OAuthError('invalid_client', 'The client is not registered; register it again.')
  return { values }
}

/** A parameter that must be there. Throws `invalid_request`. */
export function required(values: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = values[name]
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
  return value
}
