// An event is billed once. Until events can be attributed to one of several subscriptions (semantics 1.3), a customer may not
// have two that price the same meter at the same time.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { lockOne } from '../../resource/store.ts'
import { customerResource } from '../customers/resource.ts'
import { subscriptionResource } from './subscription.ts'
import type { Subscription } from './table.ts'

/**
 * Throws INVALID_OPERATION when another ACTIVE or once active subscription of the customer prices a meter of this one's
 * ACTIVE schedules at the same time. Holds the customer's lock until commit, so that two at once cannot both pass.
 */
export async function refuseSharedUsage(
  uow: Uow,
  subscription: Pick<Subscription, 'id' | 'customer_id'>,
): Promise<void> {
  await lockOne(uow, customerResource, subscription.customer_id)
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ other: string; meter: string }>(sql`
    with held as (
      select s.id, h.pricing_plan_version_id,
        tstzrange(h.start_at, case when s.cancelled_at is null then h.end_at else least(h.end_at, greatest(s.cancelled_at, h.start_at)) end) as during
      from pricing_plan_subscriptions s
      join pricing_plan_schedules h on h.platform_id = s.platform_id and h.environment = s.environment
        and h.pricing_plan_subscription_id = s.id and h.status = 'ACTIVE'
      where s.platform_id = ${platformId} and s.environment = ${environment} and s.customer_id = ${subscription.customer_id}
        and (s.status in ('ACTIVE', 'CANCELLED') or s.id = ${subscription.id})
    )
    select theirs.id as other, m.reference as meter
    from held mine
    join held theirs on theirs.id <> mine.id and theirs.during && mine.during
    join priced_meters a on a.platform_id = ${platformId} and a.environment = ${environment} and a.pricing_plan_version_id = mine.pricing_plan_version_id
    join priced_meters b on b.platform_id = ${platformId} and b.environment = ${environment} and b.pricing_plan_version_id = theirs.pricing_plan_version_id
      and b.meter_id = a.meter_id
    join meters m on m.platform_id = ${platformId} and m.environment = ${environment} and m.id = a.meter_id
    where mine.id = ${subscription.id}
    limit 1`)
  const [shared] = rows
  if (!shared) return
  const message =
    `The customer's subscription ${shared.other} already bills the meter ${shared.meter} at that time, and an event is billed once. ` +
    'End that one first, or price another meter.'
  throw new AppError('INVALID_OPERATION', message, {
    resourceId: shared.other,
    resourceType: subscriptionResource.objectType,
  })
}
