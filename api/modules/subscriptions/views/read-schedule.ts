// GET of a schedule, with its version as the schedule sells it if that is wanted.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { listOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { about, ExpandQuery } from '../../../resource/routes/list-routes.ts'
import { Shape } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { viewOf } from '../../../resource/views.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { mapConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { pricingCategoriesAs } from '../../catalog/pricing-plans/version-pricings.ts'
import { isOverridden, overridden } from '../overrides/merge-overrides.ts'
import { versionOfSchedule } from '../rate-cards/version-of-schedule.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import type { Schedule } from '../table.ts'

/** Registers the GET of a schedule. */
export function scheduleRoute(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    ...about(scheduleResource, 'VIEW', 'Read a pricing plan schedule.'),
    method: 'GET',
    url: '/v1/pricing-plan-schedules/:id',
    params: IdParams,
    query: Shape({
      include_combined_pricing_plan_version: Type.Optional(
        Type.Enum(['true', 'false'], {
          description: 'Show the plan version with the override_pricings of the schedule merged into it.',
        }),
      ),
      ...ExpandQuery,
    }),
    response: scheduleResource.view,
    handle: async (uow, { params, query }) => {
      const row = await getOne(uow, scheduleResource, params.id)
      const view = await viewOf(uow, scheduleResource, row, listOf(query['expand[]'] as string | string[] | undefined))
      const wanted = query.include_combined_pricing_plan_version === 'true'
      const combined = wanted || row.override_pricings.length > 0 ? await combinedVersion(uow, row) : null
      return {
        ...view,
        pricing_categories: combined ? ownPrices(combined, row) : [],
        ...(wanted ? { combined_pricing_plan_version: combined } : {}),
      }
    },
  })
}

/** The version that prices the schedule now, of a rate card too, with the prices of the schedule's overrides. */
async function combinedVersion(uow: ReadUow, schedule: Schedule): Promise<Row> {
  const id = (await versionOfSchedule(uow, schedule, uow.now)) ?? schedule.pricing_plan_version_id
  const row = await getOne(uow, pricingPlanVersionResource, id)
  const version = await viewOf(uow, pricingPlanVersionResource, row)
  const [sold] = await pricingCategoriesAs(uow, [row], pricing => soldBy(schedule, pricing))
  return { ...version, ...sold }
}

type Priced = {
  readonly pricings: readonly Row[]
  readonly pricing_groups: readonly (Row & { readonly pricings: readonly Row[] })[]
}

/** Of the combined version, the categories and groups with the pricings that the schedule overrides. */
function ownPrices({ pricing_categories: categories }: Row, { override_pricings }: Schedule): Row[] {
  const own = new Set<unknown>(override_pricings.map(({ original_pricing_id }) => original_pricing_id))
  const isOwn = ({ id }: Row): boolean => own.has(id)
  // They have the form that `pricingCategoriesAs` gives them.
  return (categories as readonly (Row & Priced)[])
    .map(category => ({
      ...category,
      pricings: category.pricings.filter(isOwn),
      pricing_groups: category.pricing_groups
        .map(group => ({ ...group, pricings: group.pricings.filter(isOwn) }))
        .filter(({ pricings }) => pricings.length > 0),
    }))
    .filter(({ pricings, pricing_groups }) => pricings.length + pricing_groups.length > 0)
}

/** The pricing as the schedule sells it. What it overrides says so: the schedule, ALL or SPECIFIC, and what of the version it replaces. */
function soldBy({ id, override_pricings: overrides }: Schedule, pricing: Pricing): Pricing {
  const sold = overridden(pricing, overrides)
  const override = overrides.find(each => each.original_pricing_id === pricing.id)
  if (!override) return sold
  const items = sold.items.map(item => {
    const own = override.items.find(each => each.original_pricing_item_id === item.id)
    const kind = own?.override ?? (override.override === 'ALL' ? 'ALL' : null)
    if (kind === null) return item
    const withOriginal = (config: PricingItemConfig) =>
      isOverridden(overrides, { pricing, item, config })
        ? { ...config, original_pricing_item_config_id: config.id }
        : config
    return { ...mapConfigs(item, withOriginal), original_pricing_item_id: item.id, override: kind }
  })
  const original = { original_pricing_id: pricing.id, pricing_plan_schedule_id: id, override: override.override }
  return { ...sold, ...original, items }
}
