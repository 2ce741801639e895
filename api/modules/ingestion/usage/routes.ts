// The calls on usage as figures.
import type { FastifyInstance } from 'fastify'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { readUsage, type UsageDeps } from './read-usage.ts'
import { UsageQueryShape, UsageView } from './schema.ts'

const view = { permission: 'METER_DATA.VIEW', tag: 'usage', method: 'GET', status: 200 } as const

export function usageRoutes(app: FastifyInstance, deps: RouteDeps & UsageDeps): void {
  actionRoute(app, deps, {
    ...view,
    summary: 'Read usage by the hour, day or month, as invoices count it.',
    url: '/v1/usage',
    query: UsageQueryShape,
    response: UsageView,
    handle: ({ tenant }, { query }) => readUsage(deps, tenant, query),
  })
}
