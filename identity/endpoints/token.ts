// The token endpoint: form in, JSON out, public clients only.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkResource } from '../checks/resource.ts'
import { redeemCode } from '../grants/authorization-code.ts'
import { refresh } from '../grants/refresh-token.ts'
import type { TokenResponse } from '../grants/token-response.ts'
import { allowAnyOrigin, preflight } from '../http/cross-origin.ts'
import { rateLimitKeyOf, sendTooManyRequests } from '../http/rate-limits.ts'
import { singleValues } from '../http/single-values.ts'
import { OAuthError } from '../oauth-error.ts'
import type { Client } from '../store/clients.ts'
import type { OAuthDeps } from './oauth-deps.ts'

const PATH = '/v1/oauth2/token'
const BODY_BYTES_MAX = 8_192

export function tokenRoute(app: FastifyInstance, deps: OAuthDeps): void {
  preflight(app, PATH, 'POST')
  const options = { bodyLimit: BODY_BYTES_MAX, config: { bodyType: 'application/x-www-form-urlencoded' } } as const
  app.post(PATH, options, async (request, reply) => {
    allowAnyOrigin(reply)
    const address = rateLimitKeyOf(request)
    if (await sendTooManyRequests(reply, await deps.limits.token.take(address))) return reply
    if (await sendTooManyRequests(reply, await deps.limits.tokenRefused.blocked(address))) return reply
    try {
      return await reply.header('pragma', 'no-cache').send(await exchange(deps, request))
    } catch (error) {
      // What guesses is refused; what has to wait has not guessed.
      if (error instanceof OAuthError && error.status < 500) await deps.limits.tokenRefused.take(address)
      throw error
    }
  })
}

async function exchange(deps: OAuthDeps, request: FastifyRequest): Promise<TokenResponse> {
  const { values, clientId } = readCall(request)
  const client = await requireClient(deps, clientId, rateLimitKeyOf(request))
  const resource = checkResource(values['resource'], deps.baseUrl)
  const context = { issuer: deps.identityUrl, signing: await deps.keystore.signingKey(), requestId: request.id }
  switch (values['grant_type']) {
    case 'authorization_code':
      return await redeemCode(deps.database, context, {
        clientId,
        resource,
        code: required(values, 'code'),
        codeVerifier: required(values, 'code_verifier'),
        redirectUri: values['redirect_uri'],
        clientRedirectUris: client.redirectUris,
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

/** The form of a token or revocation call by a public client. Throws `invalid_request` or `invalid_client`. */
export function readCall(request: FastifyRequest): {
  values: Readonly<Record<string, string | undefined>>
  clientId: string
} {
  if (request.headers.authorization !== undefined) {
    throw new OAuthError(
      'invalid_client',
      'Clients have no secret here: send client_id in the form and no Authorization.',
    )
  }
  const { values, repeated } = singleValues(request.body)
  if (repeated !== null) throw new OAuthError('invalid_request', `${repeated} was given more than once.`)
  return { values, clientId: required(values, 'client_id') }
}

/** The client of a token call. Throws `invalid_client`, and `temporarily_unavailable` while its document cannot be read. */
async function requireClient(deps: OAuthDeps, clientId: string, address: string): Promise<Client> {
  const found = await deps.findClient.forToken(clientId, address)
  if (found.kind === 'found') return found.client
  if (found.kind === 'unread')
    throw new OAuthError(
      'temporarily_unavailable',
      "The client's document cannot be read now; try again later.",
      found.waitSeconds,
    )
  throw new OAuthError(
    'invalid_client',
    found.fault === null
      ? 'The client is not registered; register it again.'
      : `The client's document cannot be accepted: ${found.fault}.`,
  )
}

/** A parameter that must be there. Throws `invalid_request`. */
export function required(values: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = values[name]
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
  return value
}
