// The calls on usage as figures.
import type { FastifyInstance } from 'fastify'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { type IngestionDeps, readIngestion } from './read-ingestion.ts'
import { readUsage, type UsageDeps } from './read-usage.ts'
import { IngestionQueryShape, IngestionView, UsageQueryShape, UsageView } from './schema.ts'

const view = { permission: 'METER_DATA.VIEW', tag: 'usage', method: 'GET', status: 200 } as const

export function usageRoutes(app: FastifyInstance, deps: RouteDeps & UsageDeps & IngestionDeps): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Read usage by the hour, day or month, as invoices count it.',
    url: '/v1/usage',
    query: UsageQueryShape,
    response: UsageView,
    handle: ({ tenant }, { query }) => readUsage(deps, tenant, query),
  })
  actionRoute(app, deps, {
    ...view,
    summary: 'Read what became of the events that were sent, minute by minute.',
    url: '/v1/usage/ingestion',
    query: IngestionQueryShape,
    response: IngestionView,
    handle: ({ tenant }, { query }) => readIngestion(deps, tenant, query),
  })
}
