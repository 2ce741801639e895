// The catalog as one file: read, planned and applied.
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../../http/route.ts'
import { DecimalText, Optional, Shape } from '../../../resource/shapes.ts'
import { applyGated } from './apply-gated.ts'
import { catalogFile, readCatalog } from './read-catalog.ts'
import { LIMIT_TEXTS, PERIODS_MAX } from './revenue-gate.ts'
import { CatalogApplied, type CatalogDocument, CatalogFile, CatalogPlanned } from './schema.ts'
import { tryCatalog } from './try-catalog.ts'

const FILE_BYTES_MAX = 8 * 1_048_576

const GateQuery = Shape({
  periods: Optional(
    Type.String({
      pattern: '^[0-9]{1,2}$',
      description: `How many closed periods of each subscription are rated, from 1 to ${PERIODS_MAX}.`,
    }),
  ),
  max_revenue_change: Optional({ ...DecimalText, description: LIMIT_TEXTS.max_revenue_change }),
  max_customer_increase: Optional({ ...DecimalText, description: LIMIT_TEXTS.max_customer_increase }),
})

/** The file with the limits of the call, which replace its own one by one. Throws INVALID_FIELD. */
function withLimits(file: CatalogDocument, { periods, ...limits }: Static<typeof GateQuery>): CatalogDocument {
  const number = periods === undefined ? undefined : Number(periods)
  if (number !== undefined && (number < 1 || number > PERIODS_MAX))
    throw new AppError('INVALID_FIELD', `periods is from 1 to ${PERIODS_MAX}.`, { field: 'periods' })
  const given = { ...limits, ...(number === undefined ? {} : { periods: number }) }
  return Object.keys(given).length === 0 ? file : { ...file, revenue_gate: { ...file.revenue_gate, ...given } }
}

export function catalogFileRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.VIEW',
    summary: 'Read the whole catalog as one file, with references in the place of ids.',
    method: 'GET',
    url: '/v1/catalog',
    response: CatalogFile,
    handle: async uow => catalogFile(await readCatalog(uow)),
  })
  actionRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.VIEW',
    summary: 'Plan a catalog file: read what applying it would change, and why it would be refused. Nothing is stored.',
    method: 'POST',
    url: '/v1/catalog/plan',
    status: 200,
    query: GateQuery,
    body: CatalogFile,
    bodyBytesMax: FILE_BYTES_MAX,
    response: CatalogPlanned,
    // What the shape has checked.
    handle: (context, { query, body }) => tryCatalog(context, withLimits(body as CatalogDocument, query)),
  })
  actionRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.UPDATE',
    summary: 'Bring the catalog to what a file says, in one transaction. What the file does not have stays as it is.',
    method: 'POST',
    url: '/v1/catalog/apply',
    status: 200,
    query: GateQuery,
    body: CatalogFile,
    bodyBytesMax: FILE_BYTES_MAX,
    response: CatalogApplied,
    handle: async (context, { query, body }) => ({
      object_type: 'CATALOG_APPLIED',
      changes: await applyGated(context, withLimits(body as CatalogDocument, query)),
    }),
  })
}
