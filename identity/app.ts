// The identity host's table of contents: the ground first, then every part by name.
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from 'fastify'
import { mapDriverError } from '../shared/database/driver-errors.ts'
import { AppError } from '../shared/errors.ts'
import { faviconRoute } from '../shared/http/favicon.ts'
import { answerBrokenConnection, OWN_HOST_CHECK, refuseOddRequests } from '../shared/http/odd-requests.ts'
import { stopInOrder } from '../shared/http/stopping.ts'
import { refuseUnstorableRequest } from '../shared/http/storable-text.ts'
import { newId } from '../shared/ids.ts'
import { activationRoutes } from './activation/routes.ts'
import { createFindClient } from './client-documents/find-client.ts'
import { connectedAppsRoutes } from './connected-apps/routes.ts'
import { consentRoutes } from './consent/routes.ts'
import type { IdentityDeps } from './deps.ts'
import { authorizeRoute } from './endpoints/authorize.ts'
import { jwksRoute } from './endpoints/jwks.ts'
import { metadataRoutes } from './endpoints/metadata.ts'
import type { OAuthDeps } from './endpoints/oauth-deps.ts'
import { registerRoute } from './endpoints/register.ts'
import { revokeRoute } from './endpoints/revoke.ts'
import { tokenRoute } from './endpoints/token.ts'
import { allowAnyOrigin } from './http/cross-origin.ts'
import { createRateLimits, type RateLimits } from './http/rate-limits.ts'
import { sendRefusal } from './http/refusal-page.ts'
import { securityHeaders } from './http/security-headers.ts'
import type { Keystore } from './keys/keystore.ts'
import { OAuthError } from './oauth-error.ts'
import { STYLE } from './pages/layout.ts'
import { passwordRoutes } from './password/routes.ts'
import { secondFactorRoutes } from './second-factor/routes.ts'
import { secondStepRoutes } from './second-factor/second-step.ts'
import { signInRoutes } from './sign-in/routes.ts'
import { stepUpRoutes } from './step-up/routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The one media type this route takes; such routes are open to all origins. */
    bodyType?: 'application/json' | 'application/x-www-form-urlencoded'
  }
}

const BODY_BYTES_MAX = 16_384
const REQUEST_TIMEOUT_MS = 15_000

/** The identity host as a Fastify instance, not yet listening. */
export async function buildIdentity(
  deps: IdentityDeps & { readonly keystore: Keystore; readonly limits?: RateLimits },
): Promise<FastifyInstance> {
  const limits = deps.limits ?? createRateLimits()
  const findClient = createFindClient({ ...deps, readings: limits.documentRead })
  const oauth: OAuthDeps = { ...deps, limits, findClient }
  const app = Fastify({
    loggerInstance: deps.logger.child({}, { serializers: { req: loggedRequest } }) as FastifyBaseLogger,
    // Behind a proxy the address that limits count by is the one it tells; from anybody else that is not believed.
    trustProxy: deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies],
    genReqId: () => newId('reqr'),
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: REQUEST_TIMEOUT_MS,
    http: OWN_HOST_CHECK,
    clientErrorHandler: answerBrokenConnection,
    frameworkErrors: (error, request, reply) => void sendRefusal(request, reply, toAppError(error)),
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    // Its own answer has another shape; see stopInOrder.
    return503OnClosing: false,
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  securityHeaders(app)
  refuseOddRequests(app)
  stopInOrder(app)
  app.addHook('onRequest', async (request, reply) => {
    const { bodyType } = request.routeOptions.config
    if (bodyType === undefined) return
    allowAnyOrigin(reply)
    if (mediaType(request.headers['content-type']) !== bodyType) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${bodyType}.`)
    }
  })
  app.addHook('preValidation', async request => refuseUnstorableRequest(request))
  // Clients compare the type byte for byte, so it carries no charset (semantics 9.1).
  app.addHook('onSend', async (_request, reply, payload) => {
    if (String(reply.getHeader('content-type')).startsWith('application/json'))
      reply.header('content-type', 'application/json')
    return payload
  })
  await app.register(cookie)
  await app.register(formbody, { bodyLimit: BODY_BYTES_MAX })
  app.setErrorHandler((error, request, reply) => {
    const refused = asOAuthError(error, request.routeOptions.url)
    if (refused) {
      if (refused.retryAfterSeconds !== null) reply.header('retry-after', String(refused.retryAfterSeconds))
      return void reply.status(refused.status).send(refused.toBody())
    }
    const refusal = toAppError(error)
    // What is away comes back by itself; an error line is for a person.
    if (refusal.status === 503) request.log.warn({ err: error }, 'the request cannot be answered now')
    else if (refusal.status >= 500) request.log.error({ err: error }, 'the request failed')
    if (refusal.details.retryAfterSeconds) reply.header('retry-after', String(refusal.details.retryAfterSeconds))
    void sendRefusal(request, reply, refusal)
  })
  app.setNotFoundHandler((request, reply) => {
    const refusal = new AppError(
      'RESOURCE_NOT_FOUND',
      `There is nothing at ${request.method} ${request.url.split('?')[0]}.`,
    )
    void sendRefusal(request, reply, refusal)
  })
  operationRoutes(app, deps)
  faviconRoute(app)
  app.get('/assets/identity.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(STYLE),
  )
  signInRoutes(app, oauth)
  secondStepRoutes(app, deps)
  secondFactorRoutes(app, deps)
  stepUpRoutes(app, deps)
  metadataRoutes(app, deps)
  jwksRoute(app, oauth)
  registerRoute(app, oauth)
  authorizeRoute(app, oauth)
  consentRoutes(app, oauth)
  connectedAppsRoutes(app, deps)
  passwordRoutes(app, oauth)
  activationRoutes(app, oauth)
  tokenRoute(app, oauth)
  revokeRoute(app, oauth)
  return app
}

/** A request as it is logged: links carry secrets behind the question mark. */
const loggedRequest = ({ method, url, ip }: FastifyRequest) => ({ method, url: url.split('?')[0], remoteAddress: ip })

const mediaType = (header: string | undefined): string | undefined => header?.split(';')[0]?.trim().toLowerCase()

/** A refusal of an OAuth endpoint; a body it could not even parse is one too. */
function asOAuthError(error: unknown, url: string | undefined): OAuthError | null {
  if (error instanceof OAuthError) return error
  const isWrongText = error instanceof AppError && (error.code === 'INVALID_FIELD' || error.code === 'INVALID_REQUEST')
  if (isWrongText && url?.startsWith('/v1/oauth2/') && !url.endsWith('/authorize'))
    return new OAuthError(url.endsWith('/register') ? 'invalid_client_metadata' : 'invalid_request', error.message)
  const unreadable = error instanceof Error && 'statusCode' in error && error.statusCode === 400
  if (!unreadable || !url?.startsWith('/v1/oauth2/')) return null
  const name = url.endsWith('/register') ? 'invalid_client_metadata' : 'invalid_request'
  return new OAuthError(name, 'The body cannot be read.')
}

/** Public, so without the reason: that is said on METRICS_PORT alone. */
function operationRoutes(app: FastifyInstance, { ready }: IdentityDeps): void {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) => {
    const reason = await ready()
    return reason === null ? { status: 'ready' } : reply.status(503).send({ status: 'not_ready' })
  })
}

/** Anything thrown as the refusal that is sent; bugs become a bare 500. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const mapped = mapDriverError(error)
  // Anything else that the database refuses here is a bug.
  if (mapped instanceof AppError && (mapped.status === 503 || mapped.code === 'INVALID_REQUEST')) return mapped
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status === 413) return new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this address accepts.')
  if (status === 415) return new AppError('UNSUPPORTED_MEDIA_TYPE', 'This address does not take that kind of body.')
  if (status >= 400 && status < 500) return new AppError('BAD_REQUEST', 'The request cannot be read.')
  return new AppError(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Quote the X-REQUEST-ID when you report it.',
    {
      cause: error,
    },
  )
}
