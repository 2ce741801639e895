// The prices of schedules as they are shown: those that a schedule has besides its plan, and those that it overrides.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { mapConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { pricingCategoriesAs } from '../../catalog/pricing-plans/version-pricings.ts'
import { isOverridden, overridden } from '../overrides/merge-overrides.ts'
import type { Schedule } from '../table.ts'

/** A category as `pricingCategoriesAs` gives it. */
export type ShownPrices = Row & {
  readonly product_category_id: string | null
  readonly pricings: readonly Row[]
  readonly pricing_groups: readonly (Row & { readonly pricings: readonly Row[] })[]
}

/** Whether the schedule sells its own prices alone. */
export const isWithoutPlan = (
  schedule: Pick<Schedule, 'pricing_plan_version_id' | 'own_pricing_plan_version_id'>,
): boolean => schedule.pricing_plan_version_id === schedule.own_pricing_plan_version_id

/** `pricing_categories` of each schedule: its own prices. Those that it overrides are shown by its GET besides. */
export async function ownPricesOf(uow: ReadUow, rows: readonly Schedule[]): Promise<Row[]> {
  const views: Row[] = []
  for (const row of rows)
    views.push(row.own_pricing_plan_version_id === null ? {} : { pricing_categories: await ownCategories(uow, row) })
  return views
}

/** The categories of the prices that the schedule has besides its plan, or without one. */
export async function ownCategories(uow: ReadUow, schedule: Schedule): Promise<readonly ShownPrices[]> {
  const { id, own_pricing_plan_version_id: versionId } = schedule
  if (versionId === null) return []
  const [sold] = await pricingCategoriesAs(uow, [{ id: versionId }], pricing => soldBy(schedule, pricing))
  const ofSchedule = (row: Row): Row => ({ ...row, pricing_plan_schedule_id: id })
  return ((sold?.['pricing_categories'] ?? []) as readonly ShownPrices[]).map(category => ({
    ...category,
    pricings: category.pricings.map(ofSchedule),
    pricing_groups: category.pricing_groups.map(group => ({
      ...group,
      pricing_plan_schedule_id: id,
      pricings: group.pricings.map(ofSchedule),
    })),
  }))
}

/** The categories of both, each category once. */
export function together(first: readonly ShownPrices[], second: readonly ShownPrices[]): ShownPrices[] {
  const besides = (category: ShownPrices) =>
    second.find(each => each.product_category_id === category.product_category_id)
  return [
    ...first.map(category => {
      const other = besides(category)
      return other === undefined
        ? category
        : {
            ...category,
            pricings: [...category.pricings, ...other.pricings],
            pricing_groups: [...category.pricing_groups, ...other.pricing_groups],
          }
    }),
    ...second.filter(each => !first.some(({ product_category_id: id }) => id === each.product_category_id)),
  ]
}

/** The pricing as the schedule sells it. What it overrides says so: the schedule, ALL or SPECIFIC, and what of the version it replaces. */
export function soldBy({ id, override_pricings: overrides }: Schedule, pricing: Pricing): Pricing {
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
