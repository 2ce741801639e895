// GET of a schedule, with its version as the schedule sells it if that is wanted.
import { and, eq } from 'drizzle-orm'
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
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { viewOf } from '../../../resource/views.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { pricingPlanVersions } from '../../catalog/pricing-plans/table.ts'
import { pricingCategoriesAs } from '../../catalog/pricing-plans/version-pricings.ts'
import { isWithoutPlan, ownCategories, type ShownPrices, soldBy, together } from '../own-prices/show-own-prices.ts'
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
      // Without a plan there is no version: all that is sold stands in pricing_categories.
      if (isWithoutPlan(row)) return view
      const own = await ownCategories(uow, row)
      const combined = wanted || row.override_pricings.length > 0 ? await combinedVersion(uow, row) : null
      return {
        ...view,
        pricing_categories: together(combined ? overriddenPrices(combined, row) : [], own),
        ...(wanted && combined ? { combined_pricing_plan_version: combinedWith(combined, own) } : {}),
      }
    },
  })
}

/** The version that prices the schedule now, of a rate card too, with the prices of the schedule's overrides. */
async function combinedVersion(uow: ReadUow, schedule: Schedule): Promise<Row> {
  const id = (await versionOfSchedule(uow, schedule, uow.now)) ?? schedule.pricing_plan_version_id
  const v = pricingPlanVersions
  const [row] = await uow.tx
    .select()
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.id, id)))
  if (!row) throw new Error(`a schedule has its version: ${id}`)
  const version = await viewOf(uow, pricingPlanVersionResource, row)
  const [sold] = await pricingCategoriesAs(uow, [row], pricing => soldBy(schedule, pricing))
  return { ...version, ...sold }
}

/** The version with the prices that the schedule has besides. */
const combinedWith = (version: Row, own: readonly ShownPrices[]): Row => ({
  ...version,
  pricing_categories: together(version['pricing_categories'] as readonly ShownPrices[], own),
})

/** Of the combined version, the categories and groups with the pricings that the schedule overrides. */
function overriddenPrices({ pricing_categories: categories }: Row, { override_pricings }: Schedule): ShownPrices[] {
  const own = new Set<unknown>(override_pricings.map(({ original_pricing_id }) => original_pricing_id))
  const isOwn = ({ id }: Row): boolean => own.has(id)
  // They have the form that `pricingCategoriesAs` gives them.
  return (categories as readonly ShownPrices[])
    .map(category => ({
      ...category,
      pricings: category.pricings.filter(isOwn),
      pricing_groups: category.pricing_groups
        .map(group => ({ ...group, pricings: group.pricings.filter(isOwn) }))
        .filter(({ pricings }) => pricings.length > 0),
    }))
    .filter(({ pricings, pricing_groups }) => pricings.length + pricing_groups.length > 0)
}
