// The authorization endpoint, in the order of the specification: first who asks and where the answer goes, and only when
// both are right may a fault be sent there (security 1.2, items 11 to 15).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { asSystem } from '../../shared/database/database.ts'
import { checkChallenge } from '../checks/pkce.ts'
import { matchesRedirectUri } from '../checks/redirect-uri.ts'
import { checkResource } from '../checks/resource.ts'
import { requestedScopes } from '../checks/scope.ts'
import { setRequestCookie } from '../consent/browser-binding.ts'
import { rateLimitKeyOf } from '../http/rate-limits.ts'
import { sendClientDocumentPage, sendInvalidClientPage, type UnusableClientDocument } from '../http/refusal-page.ts'
import { type ReadParameters, singleValues } from '../http/single-values.ts'
import { OAuthError } from '../oauth-error.ts'
import type { Client } from '../store/clients.ts'
import { insertRequest, type NewRequest } from '../store/requests.ts'
import { newSecretToken } from '../store/secret-token.ts'
import { authorizationResponseUrl } from './authorization-response-url.ts'
import type { OAuthDeps } from './oauth-deps.ts'

const STATE_CHARACTERS_MAX = 2_048

export function authorizeRoute(app: FastifyInstance, deps: OAuthDeps): void {
  app.get('/v1/oauth2/authorize', async (request, reply) => {
    const wait = await deps.limits.authorize.take(rateLimitKeyOf(request))
    if (wait !== null) {
      reply.header('retry-after', String(wait))
      return await sendInvalidClientPage(request, reply.status(429), 'too many requests').status(429)
    }
    return await authorize(deps, request, reply)
  })
}

async function authorize(deps: OAuthDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const parameters = singleValues(request.query)
  const found = await findClient(deps, parameters, rateLimitKeyOf(request))
  if (typeof found === 'string') return sendInvalidClientPage(request, reply, found)
  if ('status' in found) return sendClientDocumentPage(request, reply, found)
  const target = targetOf(found, parameters)
  if (typeof target === 'string') return sendInvalidClientPage(request, reply, target)
  const { state } = parameters.values
  try {
    const browser = newSecretToken()
    const asked = readRequest(deps, parameters, target)
    const id = await asSystem(deps.database, 'identity', tx =>
      insertRequest(tx, { ...asked, browserSha256: browser.sha256 }),
    )
    await setRequestCookie(deps.database, request, reply, { id, secret: browser.text })
    return reply.redirect(`/consent?request=${id}`, 303)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const fault = { error: error.error, error_description: error.message }
    return reply.redirect(
      authorizationResponseUrl(target.redirectUri, { ...fault, state: state ?? null, iss: deps.identityUrl }),
      303,
    )
  }
}

type Target = { readonly clientId: string; readonly redirectUri: string; readonly redirectUriGiven: boolean }

/** Who asks, or why that cannot be trusted: in words, or by what is wrong with the client's document. */
async function findClient(
  deps: OAuthDeps,
  { values, repeated }: ReadParameters,
  address: string,
): Promise<Client | UnusableClientDocument | string> {
  const { client_id: clientId } = values
  if (repeated === 'client_id' || repeated === 'redirect_uri') return `${repeated} was given more than once`
  if (clientId === undefined) return 'no client_id'
  const found = await deps.findClient.forAuthorization(clientId, address)
  if (found.kind === 'found') return found.client
  if (found.kind === 'unread') return { status: 503, clientId, waitSeconds: found.waitSeconds }
  return found.fault === null ? 'the client is not registered' : { status: 400, clientId, fault: found.fault }
}

/** Where the answer may go, or why nowhere. */
function targetOf(client: Client, { values }: ReadParameters): Target | string {
  const { id: clientId } = client
  const { redirect_uri: redirectUri } = values
  if (redirectUri === undefined) {
    const [only, ...others] = client.redirectUris
    return only !== undefined && others.length === 0
      ? { clientId, redirectUri: only, redirectUriGiven: false }
      : 'no redirect_uri, and the client registered several'
  }
  return matchesRedirectUri(redirectUri, client.redirectUris)
    ? { clientId, redirectUri, redirectUriGiven: true }
    : 'the redirect_uri is not registered'
}

function readRequest(
  deps: OAuthDeps,
  { values, repeated }: ReadParameters,
  target: Target,
): Omit<NewRequest, 'browserSha256'> {
  if (repeated !== null) throw new OAuthError('invalid_request', `${repeated} was given more than once.`)
  if (values['response_type'] !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code.')
  }
  const state = values['state'] ?? null
  if (state !== null && state.length > STATE_CHARACTERS_MAX) {
    throw new OAuthError('invalid_request', `state is longer than ${STATE_CHARACTERS_MAX} characters.`)
  }
  return {
    ...target,
    state,
    codeChallenge: checkChallenge(values['code_challenge'], values['code_challenge_method']),
    resource: checkResource(values['resource'], deps.baseUrl),
    scopes: requestedScopes(values['scope']),
  }
}
