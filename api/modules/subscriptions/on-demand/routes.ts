// What can be charged on demand under a schedule.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { PricingCategories } from '../../catalog/pricing-plans/schema.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { pricingCategoriesAs } from '../../catalog/pricing-plans/version-pricings.ts'
import { overridden } from '../overrides/merge-overrides.ts'
import { isWithoutPlan, ownCategories, type ShownPrices, together } from '../own-prices/show-own-prices.ts'
import { versionOfSchedule } from '../rate-cards/version-of-schedule.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { scheduleTerms } from '../sold-items.ts'
import { onDemandCategories, type ShownCategory } from './on-demand-categories.ts'

const OnDemandItems = Type.Object(
  {
    pricing_plan_subscription_id: Type.String(),
    pricing_plan_schedule_id: Type.String(),
    pricing_plan_version_id: Nullable(Type.String()),
    pricing_categories: PricingCategories,
  },
  { title: 'OnDemandPricingItems' },
)

/** Registers the list of on-demand items of a schedule. */
export function onDemandItemRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    permission: 'PRICING_PLAN_SCHEDULE.VIEW',
    summary: 'List what can be charged on demand under a schedule: its pricings, with only those items.',
    tag: scheduleResource.path,
    method: 'GET',
    url: '/v1/pricing-plan-schedules/:id/on-demand-pricing-items',
    params: IdParams,
    query: Shape({
      timestamp: Optional({ ...Timestamp, description: 'The time whose prices are listed. Default: now.' }),
    }),
    response: OnDemandItems,
    handle: async (uow, { params, query }) =>
      await onDemandItems(uow, params.id, query.timestamp ? at(query.timestamp) : uow.now),
  })
}

/** The pricings of the version in force then, with their on-demand items. */
async function onDemandItems(uow: ReadUow, scheduleId: string, moment: Instant) {
  const schedule = await getOne(uow, scheduleResource, scheduleId)
  const versionId = await versionOfSchedule(uow, schedule, moment)
  const asSold = (pricing: Pricing) => overridden(pricing, schedule.override_pricings)
  const [version] =
    versionId === null || isWithoutPlan(schedule) ? [] : await pricingCategoriesAs(uow, [{ id: versionId }], asSold)
  const ofPlan = (version?.['pricing_categories'] ?? []) as readonly ShownPrices[]
  const shown = together(ofPlan, await ownCategories(uow, schedule)) as readonly Row[]
  return {
    pricing_plan_subscription_id: schedule.pricing_plan_subscription_id,
    pricing_plan_schedule_id: schedule.id,
    pricing_plan_version_id: isWithoutPlan(schedule) ? null : versionId,
    pricing_categories: onDemandCategories(shown as readonly ShownCategory[], {
      enabled: schedule.enabled_pricings,
      moment,
      terms: await scheduleTerms(uow, schedule),
    }),
  }
}
