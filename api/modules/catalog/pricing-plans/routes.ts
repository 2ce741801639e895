// Calls of versions that not every resource has.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { IdText, LifecycleStatus, Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import { viewOf } from '../../../resource/views.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'
import { putVersion } from './put-version.ts'
import { RateCardShape } from './schema.ts'
import { CurrencySettings, PeriodSettings } from './variants/settings.ts'

const VERSION_MAX = 2_147_483_647

const PutVersionBody = Shape(
  {
    pricing_plan_id: IdText('pricing plan'),
    version: Optional(Nullable(Type.Integer({ minimum: 1, maximum: VERSION_MAX }))),
    status: Optional(Nullable(LifecycleStatus)),
    copied_from_pricing_plan_version_id: Optional(Nullable(IdText('pricing plan version'))),
    rate_card: Optional(Nullable(RateCardShape)),
    pricing_currency_settings: Optional(Nullable(CurrencySettings)),
    billing_period_settings: Optional(Nullable(PeriodSettings)),
  },
  { title: 'PricingPlanVersionUpsert' },
)

export function pricingPlanVersionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: pricingPlanVersionResource.path,
    permission: 'PRICING_PLAN_VERSION.UPDATE',
    summary: 'Create a pricing plan version, or change the DRAFT with this number.',
    method: 'PUT',
    url: `/v1/${pricingPlanVersionResource.path}`,
    body: PutVersionBody,
    response: pricingPlanVersionResource.view,
    status: 201,
    handle: async (uow, { body }, setStatus) => {
      const { row, created } = await putVersion(uow, body)
      if (!created) setStatus(200)
      return await viewOf(uow, pricingPlanVersionResource, row)
    },
  })
}
