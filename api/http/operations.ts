// What the public port of the api says of itself, alive and ready or not, and the time each request takes.
import type { FastifyInstance } from 'fastify'
import { Histogram, type Registry } from 'prom-client'

export type Operations = {
  /** Null when ready, otherwise why not. */
  readonly ready: () => Promise<string | null>
  readonly registry: Registry
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Serves /health/live and /health/ready (503 when not ready; why is said on METRICS_PORT alone), and times every request. */
export function operationRoutes(app: FastifyInstance, { ready, registry }: Operations): void {
  const duration = new Histogram({
    name: 'millrace_api_request_seconds',
    help: 'Time to answer a request, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  })
  // To look one up by its labels costs more than to count in it.
  const series = new Map<string, { observe(value: number): void }>()
  app.addHook('onResponse', (request, reply, done) => {
    // The route and never the path: paths hold ids, and would make as many series as there are resources.
    const route = request.routeOptions.url ?? 'unknown'
    const key = `${request.method} ${reply.statusCode} ${route}`
    const own = series.get(key) ?? duration.labels({ method: request.method, route, status: reply.statusCode })
    series.set(key, own)
    own.observe(reply.elapsedTime / 1_000)
    done()
  })
  const hidden = { config: { permission: 'public' }, schema: { hide: true } } as const
  app.get('/health/live', hidden, async () => ({ status: 'live' }))
  app.get('/health/ready', hidden, async (_request, reply) => {
    const reason = await ready()
    return reason === null ? { status: 'ready' } : reply.status(503).send({ status: 'not_ready' })
  })
}
