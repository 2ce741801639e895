// Which way a subscription moves within a group of plans, and when the move takes effect (contract: Change-plan rules). Pure.
import { aboutDaysOf, type PeriodLength } from '../../../../shared/billing/periods.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { PricingPlanGroup } from '../../catalog/pricing-plan-groups/table.ts'

/** A plan, and how often it is billed. */
export type Place = { readonly planId: string; readonly billingPeriod: PeriodLength }
export type PlanMove = {
  readonly direction: 'UPGRADE' | 'DOWNGRADE'
  readonly type: Exclude<PricingPlanGroup['upgrade_type'], 'NOT_ALLOWED'>
}
type Group = Pick<PricingPlanGroup, 'id' | 'status' | 'pricing_plan_ids' | 'upgrade_type' | 'downgrade_type'>

/**
 * The move from one place to another. Another plan: up the order of the group is an upgrade. The same plan: to a longer billing
 * period is one. Throws INVALID_FIELD or INVALID_OPERATION when the group does not have, or does not allow, the move.
 */
export function planMove(group: Group | null, from: Place, to: Place): PlanMove {
  const place = group?.pricing_plan_ids.indexOf(from.planId) ?? -1
  if (group === null || place === -1) {
    throw new AppError(
      'INVALID_OPERATION',
      `The plan ${from.planId} of the subscription is in no pricing plan group, so there is no other to move to. Put both plans into one.`,
      {
        field: 'pricing_plan_id',
        resourceId: from.planId,
        resourceType: 'PRICING_PLAN',
      },
    )
  }
  const target = group.pricing_plan_ids.indexOf(to.planId)
  if (target === -1) {
    const message = `The plan is not in the group ${group.id} of the plan the subscription is on; choose one of that group.`
    throw new AppError('INVALID_FIELD', message, { field: 'pricing_plan_id' })
  }
  if (group.status !== 'ACTIVE') {
    throw new AppError(
      'INVALID_OPERATION',
      `The pricing plan group ${group.id} is ${group.status}; activate it first.`,
      {
        field: 'pricing_plan_id',
        resourceId: group.id,
        resourceType: 'PRICING_PLAN_GROUP',
      },
    )
  }
  const direction = target === place ? directionOfPeriods(from, to) : target > place ? 'UPGRADE' : 'DOWNGRADE'
  const type = direction === 'UPGRADE' ? group.upgrade_type : group.downgrade_type
  if (type !== 'NOT_ALLOWED') return { direction, type }
  throw new AppError(
    'INVALID_OPERATION',
    `The group ${group.id} does not allow ${direction === 'UPGRADE' ? 'an upgrade' : 'a downgrade'}.`,
    {
      field: target === place ? 'billing_period' : 'pricing_plan_id',
      resourceId: group.id,
      resourceType: 'PRICING_PLAN_GROUP',
    },
  )
}

function directionOfPeriods(from: Place, to: Place): PlanMove['direction'] {
  const longer = aboutDaysOf(to.billingPeriod) - aboutDaysOf(from.billingPeriod)
  if (longer !== 0) return longer > 0 ? 'UPGRADE' : 'DOWNGRADE'
  const message = 'The subscription is on this plan already; name another, or another billing_period.'
  throw new AppError('INVALID_OPERATION', message, { field: 'pricing_plan_id' })
}
