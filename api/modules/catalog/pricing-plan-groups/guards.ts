// A plan stays while a group names it.
import { arrayContains } from 'drizzle-orm'
import { namedBy } from '../../../resource/rules.ts'
import { pricingPlanResource } from '../pricing-plans/pricing-plan.ts'
import { pricingPlanGroups } from './table.ts'

export const PRICING_PLAN_GROUP_GUARDS = [
  namedBy(pricingPlanResource, {
    table: pricingPlanGroups,
    noun: 'pricing plan group',
    names: id => arrayContains(pricingPlanGroups.pricing_plan_ids, [id]),
  }),
] as const
