// The api's table of contents: the ground first, then every module of the list.
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { TaxEngine } from '../shared/billing/tax/tax-engine.ts'
import { faviconRoute } from '../shared/http/favicon.ts'
import type { OutboundPolicy } from '../shared/outbound/judge-url.ts'
import type { Logger } from '../shared/process/logger.ts'
import { docsRoutes } from './docs/routes.ts'
import { rootPage } from './docs-pages/root-page.ts'
import type { GatewayAddress } from './gateway/forward-ingest.ts'
import { createServer, type ServerOptions } from './http/create-server.ts'
import { type Operations, operationRoutes } from './http/operations.ts'
import { builtReference } from './http/pages/built-reference.ts'
import { consoleRoute } from './http/pages/console.ts'
import { descriptionRoutes, referenceFrom } from './http/pages/description-routes.ts'
import { openApiOptions } from './http/pages/openapi.ts'
import { protectedResource } from './http/pages/protected-resource.ts'
import { limitRequests, type RequestLimits } from './http/rate-limit/request-limits.ts'
import type { RouteDeps } from './http/route.ts'
import { mcpEndpoint } from './mcp/endpoint.ts'
import type { UsageReader } from './modules/billing/usage/usage-reader.ts'
import type { UploadLimits } from './modules/ingestion/files/receive-content.ts'
import { EVENT_TYPES, invoiceProducers, MODULES, RESOURCES, RULES } from './modules/modules.ts'
import type { Post } from './modules/webhooks/request/post.ts'
import { resourceRoutes } from './resource/routes/routes.ts'
import { type Installation, withRules } from './resource/rules.ts'
import { registerFormats } from './resource/shapes.ts'
import type { EventStore } from './usage/event-store.ts'

export type AppDeps = RouteDeps &
  ServerOptions & {
    readonly logger: Logger
    readonly limits?: RequestLimits
    readonly usage: UsageReader
    readonly events: EventStore
    readonly files: UploadLimits
    /** Which addresses that users give may be asked. */
    readonly outbound: OutboundPolicy
    /** Seals secrets of tenants at rest. */
    readonly dataSecret: string
    /** Whether the workers of this installation send mail; without it they do not. */
    readonly sendsMail?: boolean
    /** Decides the tax of the billing entities that use one; without it none can. */
    readonly taxEngine?: TaxEngine | null
    /** Sends one delivery of a webhook. */
    readonly postWebhook: Post
    /** Health and metrics of the running process; tests of the routes go without. */
    readonly operations?: Operations
    /** Where the ingest calls are passed on to; without it they are not there. */
    readonly gateway?: GatewayAddress
    /** How far a platform may raise its own ingest limits; without it, as far as the fields go. */
    readonly ingestCeilings?: Installation['ingestCeilings']
    /** Origins whose pages may call the MCP endpoint. */
    readonly mcpOrigins?: readonly string[]
    /** The public addresses of this api and of the identity host; without them nothing points to the latter. */
    readonly addresses?: { readonly baseUrl: string; readonly identityUrl: string }
    /** The description that a build made; without it, the one beside the code that runs. */
    readonly builtReference?: URL
    /** Called for every route that needs credentials, when it is declared. */
    readonly onRoute?: (route: DeclaredRoute) => void
  }

/** One declared route, for the tests that go through all of them. */
export type DeclaredRoute = { readonly method: string; readonly url: string; readonly permission: string }

/** The api as a Fastify instance, not yet listening. Throws when a route declares no permission. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  registerFormats()
  const app = await createServer(deps.logger, deps)
  const declared = new Set<string>()
  app.addHook('onRoute', route => {
    if (route.method === 'HEAD') return
    const permission = route.config?.permission
    if (permission === undefined) throw new Error(`${route.method} ${route.url} declares no permission`)
    if (permission === 'public' || permission === 'bearer') return
    declared.add(permission)
    deps.onRoute?.({ method: String(route.method), url: route.url, permission })
  })
  // Before any route, since it times them all.
  if (deps.operations) operationRoutes(app, deps.operations)
  if (deps.limits) limitRequests(app, deps.limits)
  const baseUrl = deps.addresses?.baseUrl ?? '/'
  await app.register(swagger, openApiOptions({ resources: RESOURCES, eventTypes: EVENT_TYPES, baseUrl }))
  const reference = referenceFrom({
    built: () => builtReference(baseUrl, deps.builtReference),
    describe: () => ({ ...app.swagger(), 'x-permissions': [...declared].sort() }),
  })
  await app.register(async v1 => {
    const database = withRules(deps.database, RULES, {
      permissions: declared,
      ingestCeilings: deps.ingestCeilings,
      taxEngine: deps.taxEngine != null,
    })
    const ruled = { ...deps, database }
    const given = { ...ruled, declared, eventTypes: EVENT_TYPES, producers: invoiceProducers(ruled) }
    for (const { resources = [], routes } of MODULES) {
      for (const resource of resources) resourceRoutes(v1, given, resource)
      await routes?.(v1, given)
    }
    consoleRoute(v1)
    faviconRoute(v1, { config: { permission: 'public' }, schema: { hide: true } })
    docsRoutes(v1)
    if (deps.addresses) protectedResource(v1, deps.addresses)
    if (deps.addresses && deps.tokens)
      mcpEndpoint(v1, {
        tokens: deps.tokens,
        baseUrl,
        limits: deps.limits,
        origins: deps.mcpOrigins ?? [],
        description: reference.description,
      })
    rootPage(v1)
    descriptionRoutes(v1, reference)
  })
  return app
}
