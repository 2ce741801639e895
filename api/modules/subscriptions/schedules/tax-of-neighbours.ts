// One invoice is taxed one way, and the invoice of a period has the prices of every schedule in it.
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type PricingPlan, pricingPlans } from '../../catalog/pricing-plans/table.ts'
import { type Schedule, schedules } from '../table.ts'

type Charging = Pick<Schedule, 'type' | 'override_pricings' | 'own_pricing_plan_version_id'>

/** A TRIAL without prices of its own is on no invoice. */
const isCharging = ({ type, override_pricings: overrides, own_pricing_plan_version_id: own }: Charging): boolean =>
  type !== 'TRIAL' || overrides.length > 0 || Boolean(own)

/**
 * Throws INVALID_FIELD where the prices of the plan include tax and those of the schedule before or after do not, or the other way round:
 * their period could not be invoiced.
 */
export async function requireOneTax(
  uow: Uow,
  schedule: Schedule,
  { amount_type }: Pick<PricingPlan, 'amount_type'>,
): Promise<void> {
  if (!isCharging(schedule)) return
  const s = schedules
  const others = await uow.tx
    .select({
      id: s.id,
      start_at: s.start_at,
      type: s.type,
      override_pricings: s.override_pricings,
      own_pricing_plan_version_id: s.own_pricing_plan_version_id,
      amount_type: pricingPlans.amount_type,
    })
    .from(s)
    .innerJoin(pricingPlans, and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, s.pricing_plan_id)))
    .where(
      and(
        inThisTenant(uow, s),
        eq(s.pricing_plan_subscription_id, schedule.pricing_plan_subscription_id),
        schedule.id ? ne(s.id, schedule.id) : undefined,
      ),
    )
    .orderBy(s.start_at)
  const charging = others.filter(isCharging)
  const before = charging.findLast(each => each.start_at < schedule.start_at)
  const after = charging.find(each => each.start_at >= schedule.start_at)
  const other = [before, after].find(each => each && each.amount_type !== amount_type)
  if (!other) return
  const [own, theirs] =
    amount_type === 'INCLUDING_TAX' ? ['include tax', 'do not include it'] : ['do not include tax', 'include it']
  const message = `Its prices ${own} and those of the schedule ${other.id} ${theirs}, so one invoice could not have both; choose a plan with the same amount_type, or start another subscription.`
  throw new AppError('INVALID_FIELD', message, { field: 'pricing_plan_version_id', resourceId: other.id })
}
