// The gateway's paths: the table of contents.
import { type IngestDeps, ingestHandler } from './events/ingest.ts'
import type { Handler, Routes } from './http/server.ts'

export type AppDeps = IngestDeps & {
  /** Why the gateway cannot take events now, or null. */
  readonly fault: () => string | null
}

/** The route table. */
export function ingestRoutes(deps: AppDeps): Routes {
  const single = ingestHandler(deps, 'single')
  const list = ingestHandler(deps, 'list')
  return {
    post: {
      '/v1/events/ingest': single,
      '/v1/ingest/meter-data': single,
      '/v1/events/ingest-list': list,
      '/v1/events/ingest-batch': list,
      '/v1/ingest/meter-datas': list,
    },
    get: {
      '/health/live': exchange => {
        exchange.send({ status: 200, body: '{"status":"live"}' })
      },
      '/health/ready': readyHandler(deps),
    },
  }
}

/** Public, so without the reason: that is said on METRICS_PORT alone. */
const readyHandler =
  (deps: AppDeps): Handler =>
  exchange => {
    if (deps.fault() === null) exchange.send({ status: 200, body: '{"status":"ready"}' })
    else exchange.send({ status: 503, body: '{"status":"not_ready"}' })
  }
