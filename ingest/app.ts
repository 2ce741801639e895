// The gateway's paths: the table of contents.
import { type IngestDeps, ingestHandler } from './events/ingest.ts'
import type { Handler, Routes } from './http/server.ts'

export type AppDeps = IngestDeps & {
  /** Why the gateway cannot take events now, or null. */
  readonly fault: () => string | null
  readonly metrics: () => Promise<{ contentType: string; text: string }>
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
      '/metrics': async exchange => {
        const { contentType, text } = await deps.metrics()
        exchange.send({ status: 200, contentType, body: text })
      },
    },
  }
}

const readyHandler =
  (deps: AppDeps): Handler =>
  exchange => {
    const reason = deps.fault()
    if (reason === null) exchange.send({ status: 200, body: '{"status":"ready"}' })
    else exchange.send({ status: 503, body: JSON.stringify({ status: 'not_ready', reason }) })
  }
