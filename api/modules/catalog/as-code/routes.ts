// The catalog as one file: read, planned and applied.
import type { FastifyInstance } from 'fastify'
import { inTenant, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type ActionContext, actionRoute, type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { applyCatalog } from './apply-catalog.ts'
import { diffCatalog } from './plan-catalog.ts'
import { catalogFile, readCatalog } from './read-catalog.ts'
import { CatalogApplied, type CatalogDocument, CatalogFile, CatalogPlanned } from './schema.ts'

const FILE_BYTES_MAX = 8 * 1_048_576

export function catalogFileRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.VIEW',
    summary: 'The whole catalog as one file, with references in the place of ids.',
    method: 'GET',
    url: '/v1/catalog',
    response: CatalogFile,
    handle: async uow => catalogFile(await readCatalog(uow)),
  })
  actionRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.VIEW',
    summary: 'What applying a catalog file would change, and why it would be refused. Nothing is stored.',
    method: 'POST',
    url: '/v1/catalog/plan',
    status: 200,
    body: CatalogFile,
    bodyBytesMax: FILE_BYTES_MAX,
    response: CatalogPlanned,
    // What the shape has checked.
    handle: (context, { body }) => planCatalog(context, body as CatalogDocument),
  })
  writeRoute(app, deps, {
    tag: 'catalog',
    permission: 'CATALOG.UPDATE',
    summary: 'Bring the catalog to what a file says, in one transaction. What the file does not have stays as it is.',
    method: 'POST',
    url: '/v1/catalog/apply',
    status: 200,
    body: CatalogFile,
    bodyBytesMax: FILE_BYTES_MAX,
    response: CatalogApplied,
    handle: async (uow, { body }) => ({
      object_type: 'CATALOG_APPLIED',
      changes: await applyCatalog(uow, body as CatalogDocument),
    }),
  })
}

/** Ends a unit of work that was only tried. */
class Tried extends Error {}

/** What differs; when nothing of it is refused as it stands, it is applied and rolled back, so that what apply refuses is known. */
async function planCatalog({ database, tenant, actor }: ActionContext, file: CatalogDocument) {
  const { changes, refusals } = await readTenant(database, tenant, async uow =>
    diffCatalog(await readCatalog(uow), file),
  )
  const found = refusals.length > 0 ? refusals : await tried()
  return { object_type: 'CATALOG_PLAN', applicable: found.length === 0, changes, refusals: found }

  async function tried() {
    try {
      await inTenant(database, tenant, actor, async uow => {
        await applyCatalog(uow, file)
        throw new Tried()
      })
    } catch (error) {
      if (error instanceof Tried) return []
      if (!(error instanceof AppError)) throw error
      return [{ field: error.details.field ?? '', code: error.code, message: error.message }]
    }
    return []
  }
}
