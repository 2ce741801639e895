// The api's table of contents: the ground first, then every module by name.
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { newId } from '../shared/ids.ts'
import type { Logger } from '../shared/logger.ts'
import type { OutboundPolicy } from '../shared/outbound/judge-url.ts'
import { consoleRoute } from './http/console.ts'
import { isDryRun } from './http/dry-run.ts'
import { handleError, handleNotFound } from './http/errors.ts'
import { forwardIngest, type GatewayAddress } from './http/forward-ingest.ts'
import { openApiOptions } from './http/openapi.ts'
import { type Operations, operationRoutes } from './http/operations.ts'
import { protectedResource } from './http/protected-resource.ts'
import type { RouteDeps } from './http/route.ts'
import { validatorCompiler } from './http/validation.ts'
import { mcpEndpoint } from './mcp/endpoint.ts'
import { alertRoutes } from './modules/alerts/routes.ts'
import { apiKeyRoutes } from './modules/api-keys/routes.ts'
import { auditRoutes } from './modules/audit/routes.ts'
import { ingestDynamically } from './modules/events/ingest-dynamically.ts'
import { laterOperations } from './modules/events/later-operations.ts'
import { eventRoutes } from './modules/events/routes.ts'
import { entitlementRoutes } from './modules/features/routes.ts'
import type { UploadLimits } from './modules/files/receive-content.ts'
import { fileRoutes } from './modules/files/routes.ts'
import { invoiceRoutes } from './modules/invoices/routes.ts'
import type { UsageReader } from './modules/invoices/usage-reader.ts'
import { meterPropertyVariableRoutes } from './modules/meter-property-variables/routes.ts'
import { persistDataRoutes } from './modules/persist-data/routes.ts'
import { type IngestCeilings, platformResource, platformResourceUpTo } from './modules/platforms/platform.ts'
import { upToDateRoute } from './modules/platforms/up-to-date.ts'
import { RESOURCES } from './modules/resources.ts'
import { roleResource, roleResourceKnowing } from './modules/roles/role.ts'
import { roleRoutes } from './modules/roles/routes.ts'
import { subscriptionRoutes } from './modules/subscriptions/routes.ts'
import { teamRoutes } from './modules/teams/routes.ts'
import { membershipRoutes } from './modules/users/membership-routes.ts'
import { userRoutes } from './modules/users/routes.ts'
import type { Resource } from './resource/define-resource.ts'
import { resourceRoutes } from './resource/routes.ts'
import { registerFormats } from './resource/shapes.ts'
import type { EventStore } from './usage/event-store.ts'

const BODY_BYTES_MAX = 1_048_576
const REQUEST_TIMEOUT_MS = 30_000
/** A file may take long to come, as long as it keeps coming: a connection that is silent for REQUEST_TIMEOUT_MS is closed. */
const UPLOAD_TIMEOUT_MS = 3_600_000

export type AppDeps = RouteDeps & {
  readonly logger: Logger
  readonly usage: UsageReader
  readonly events: EventStore
  readonly files: UploadLimits
  /** Which addresses that users give may be asked. */
  readonly outbound: OutboundPolicy
  /** Health and metrics of the running process; tests of the routes go without. */
  readonly operations?: Operations
  /** Where the ingest calls are passed on to; without it they are not there. */
  readonly gateway?: GatewayAddress
  /** How far a platform may raise its own ingest limits; without it, as far as the fields go. */
  readonly ingestCeilings?: IngestCeilings
  /** The public addresses of this api and of the identity host; without them nothing points to the latter. */
  readonly addresses?: { readonly baseUrl: string; readonly identityUrl: string }
  /** Told of every route that needs a caller, as it is declared. */
  readonly onRoute?: (route: DeclaredRoute) => void
}

/** One declared route, for the tests that go through all of them. */
export type DeclaredRoute = { readonly method: string; readonly url: string; readonly permission: string }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the calls whose body is a stream of any length. */
    streamed?: true
  }
}

/** A body that is not there by then is not coming: its sender would hold a connection for nothing. */
function limitBodyTime(request: FastifyRequest, reply: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const isEmpty = encoding === undefined && (length === undefined || length === '0')
  if (isEmpty || request.routeOptions.config?.streamed) return
  const timer = setTimeout(() => {
    if (!request.raw.complete) request.raw.destroy()
  }, REQUEST_TIMEOUT_MS)
  timer.unref()
  reply.raw.once('close', () => clearTimeout(timer))
}

/** The api as a Fastify instance, not yet listening. Throws when a route declares no permission. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  registerFormats()
  const app = Fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    genReqId: () => newId('reqr'),
    requestIdHeader: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    connectionTimeout: REQUEST_TIMEOUT_MS,
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    routerOptions: { maxParamLength: 255, ignoreTrailingSlash: false },
    // Answers are written by shape, not checked again: our own formats are known to the serializer, and hold.
    serializerOpts: { ajv: { formats: { decimal: true, reference: true, 'time-zone': true } } },
  })
  app.setValidatorCompiler(validatorCompiler as never)
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onRequest', async (request, reply) => limitBodyTime(request, reply))
  // On every call: one that cannot be tried out must not do in earnest what was asked for as a trial.
  app.addHook('onRequest', async request => void isDryRun(request))
  // Clients compare the type byte for byte, so it carries no charset (semantics 9.1).
  app.addHook('onSend', async (_request, reply, payload) => {
    if (String(reply.getHeader('content-type')).startsWith('application/json'))
      reply.header('content-type', 'application/json')
    return payload
  })
  const declared = new Set<string>()
  app.addHook('onRoute', route => {
    if (route.method === 'HEAD' || route.url.startsWith('/v1/docs')) return
    const permission = route.config?.permission
    if (permission === undefined) throw new Error(`${route.method} ${route.url} declares no permission`)
    if (permission === 'public' || permission === 'bearer') return
    declared.add(permission)
    deps.onRoute?.({ method: String(route.method), url: route.url, permission })
  })
  // Before any route, since it times them all.
  if (deps.operations) operationRoutes(app, deps.operations)
  await app.register(swagger, openApiOptions())
  await app.register(swaggerUi, { routePrefix: '/v1/docs', uiConfig: { docExpansion: 'none' } })
  await app.register(async v1 => {
    // Two resources depend on what this api is: how far limits go, and what its routes need.
    const { ingestCeilings } = deps
    const here = new Map<Resource, Resource>([[roleResource, roleResourceKnowing(declared)]])
    if (ingestCeilings) here.set(platformResource, platformResourceUpTo(ingestCeilings))
    for (const resource of RESOURCES) resourceRoutes(v1, deps, here.get(resource) ?? resource)
    meterPropertyVariableRoutes(v1, deps)
    subscriptionRoutes(v1, deps)
    entitlementRoutes(v1, deps)
    upToDateRoute(v1, deps)
    apiKeyRoutes(v1, deps, declared)
    auditRoutes(v1, deps)
    userRoutes(v1, deps, { declared })
    membershipRoutes(v1, deps, { declared })
    roleRoutes(v1, deps, declared)
    teamRoutes(v1, deps, { declared })
    invoiceRoutes(v1, deps)
    eventRoutes(v1, deps)
    alertRoutes(v1, deps)
    laterOperations(v1, deps)
    persistDataRoutes(v1, deps)
    await fileRoutes(v1, deps)
    if (deps.gateway)
      await forwardIngest(v1, { ...deps, gateway: deps.gateway, ingestDynamically: ingestDynamically(deps) })
    consoleRoute(v1)
    if (deps.addresses) protectedResource(v1, deps.addresses)
    if (deps.addresses && deps.tokens) mcpEndpoint(v1, { tokens: deps.tokens, baseUrl: deps.addresses.baseUrl })
    v1.get('/v1/openapi.json', { config: { permission: 'public' }, schema: { hide: true } }, () => ({
      ...app.swagger(),
      'x-permissions': [...declared].sort(),
    }))
  })
  return app
}
