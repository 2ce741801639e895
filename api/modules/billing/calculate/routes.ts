// The routes that calculate prices and their curves. None of them stores anything.
import type { FastifyInstance } from 'fastify'
import { readTenant } from '../../../../shared/database/database.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../../http/route.ts'
import { DecimalText, IdText, Optional, Shape } from '../../../resource/shapes.ts'
import { calculatePrice } from './calculate-price.ts'
import { calculateVersion } from './calculate-version.ts'
import { CalculatedPrice, CalculatedVersion, CalculatePriceBody, CalculateVersionBody, VersionCurve } from './schema.ts'
import { versionCurve } from './version-curve.ts'

const VERSIONS = '/v1/pricing-plan-versions'

export function calculateRoutes(app: FastifyInstance, deps: RouteDeps): void {
  actionRoute(app, deps, {
    tag: 'pricings',
    permission: 'PRICING.VIEW',
    summary:
      'Try a price: what a stored price, or one sent along, charges for quantities, band by band. Nothing is stored.',
    method: 'POST',
    url: '/v1/prices/calculate',
    status: 200,
    body: CalculatePriceBody,
    response: CalculatedPrice,
    handle: ({ tenant }, { body }) => readTenant(deps.database, tenant, uow => calculatePrice(uow, body)),
  })
  actionRoute(app, deps, {
    tag: 'invoices',
    permission: 'PRICING_PLAN_VERSION.VIEW',
    summary:
      'Try a version: the invoices of one billing period of a customer who does not exist, for quantities of its prices. Nothing is stored.',
    method: 'POST',
    url: `${VERSIONS}/:id/calculate`,
    status: 200,
    params: IdParams,
    body: CalculateVersionBody,
    response: CalculatedVersion,
    handle: ({ tenant }, { params, body }) =>
      readTenant(deps.database, tenant, uow =>
        calculateVersion(uow, { id: params.id, body, tenant, now: deps.database.clock.now() }),
      ),
  })
  readRoute(app, deps, {
    tag: 'pricing-plan-versions',
    permission: 'PRICING_PLAN_VERSION.VIEW',
    summary:
      'Read the prices of a version as straight pieces that a chart can draw: lines, steps, and where a limit holds.',
    method: 'GET',
    url: `${VERSIONS}/:id/curve`,
    params: IdParams,
    query: Shape({
      to: Optional({ ...DecimalText, description: 'The quantity that the curves end at.' }),
      count: Optional({ ...DecimalText, description: 'How many events metered money is of.' }),
      pricing_item_config_id: Optional({
        ...IdText('price'),
        description: 'Only the curve of the price with this id.',
      }),
    }),
    response: VersionCurve,
    handle: (uow, { params, query }) => versionCurve(uow, params.id, query),
  })
}
