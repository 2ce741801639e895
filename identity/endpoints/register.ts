// Dynamic client registration (RFC 7591): anybody may, nobody gets a secret, and what is not understood is ignored.
import type { FastifyInstance } from 'fastify'
import { asSystem } from '../../shared/database/database.ts'
import { checkClientName } from '../checks/client-name.ts'
import { checkRedirectUris } from '../checks/redirect-uri.ts'
import { allowAnyOrigin, preflight } from '../http/cross-origin.ts'
import { rateLimitKeyOf, sendTooManyRequests } from '../http/rate-limits.ts'
import { OAuthError } from '../oauth-error.ts'
import { type Client, insertClient } from '../store/clients.ts'
import type { OAuthDeps } from './oauth-deps.ts'

const PATH = '/v1/oauth2/register'

/** The registration record (contract: OAuth client registration record). */
const recordOf = (client: Client) => ({
  client_id: client.id,
  client_id_issued_at: client.createdAt,
  client_name: client.name,
  redirect_uris: client.redirectUris,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

export function registerRoute(app: FastifyInstance, deps: OAuthDeps): void {
  preflight(app, PATH, 'POST')
  app.post(PATH, { config: { bodyType: 'application/json' } }, async (request, reply) => {
    allowAnyOrigin(reply)
    if (await sendTooManyRequests(reply, await deps.limits.register.take(rateLimitKeyOf(request)))) return reply
    const { redirectUris, name } = readRegistration(request.body, deps.redirectSchemes)
    const client = await asSystem(deps.database, 'identity', tx => insertClient(tx, name, redirectUris))
    return await reply.status(201).header('pragma', 'no-cache').send(recordOf(client))
  })
}

function readRegistration(body: unknown, schemes: readonly string[]): { redirectUris: string[]; name: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new OAuthError('invalid_client_metadata', 'The body must be a JSON object.')
  }
  const metadata: Readonly<Record<string, unknown>> = { ...body }
  const redirectUris = checkRedirectUris(metadata['redirect_uris'], schemes)
  checkTypes(metadata)
  return { redirectUris, name: checkClientName(metadata['client_name']) }
}

/** Members that we overrule must still be what their names promise; members we do not know may be anything. */
function checkTypes(metadata: Readonly<Record<string, unknown>>): void {
  for (const name of ['grant_types', 'response_types']) {
    const value = metadata[name]
    const right = value === undefined || (Array.isArray(value) && value.every(each => typeof each === 'string'))
    if (!right) throw new OAuthError('invalid_client_metadata', `${name} must be an array of strings.`)
  }
  const method = metadata['token_endpoint_auth_method']
  if (method !== undefined && typeof method !== 'string') {
    throw new OAuthError('invalid_client_metadata', 'token_endpoint_auth_method must be a string.')
  }
}
