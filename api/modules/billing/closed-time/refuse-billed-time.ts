// An event is billed once. The schedules in force at its time decide which subscription it belongs to. So a schedule
// may not come into force for time that a FINAL invoice of another subscription has billed: usage would move to it and
// be billed again.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { lockOne } from '../../../resource/store.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import type { Subscription } from '../../subscriptions/table.ts'

/**
 * Throws INVALID_OPERATION when one of these schedules, about to be in force, prices a meter at a time that a FINAL
 * invoice of another of the customer's subscriptions has billed for that meter. Holds the customer's lock until commit.
 * Finalizing an invoice takes the same lock, so neither can miss the other.
 */
export async function refuseBilledTime(
  uow: Uow,
  subscription: Pick<Subscription, 'id' | 'customer_id'>,
  scheduleIds: readonly string[],
): Promise<void> {
  const { customer_id: customerId } = subscription
  // A TEMPLATE has no customer and is never billed.
  if (customerId === null) return
  await lockOne(uow, customerResource, customerId)
  if (scheduleIds.length === 0) return
  const { platformId, environment } = uow.tenant
  const here = (table: string) =>
    sql`${sql.raw(table)}.platform_id = ${platformId} and ${sql.raw(table)}.environment = ${environment}`
  const { rows } = await uow.tx.execute<{ other: string; meter: string; until: string }>(sql`
    select theirs.id as other, m.reference as meter, to_char(v.period_end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until
    from pricing_plan_schedules mine
    join pricing_plan_subscriptions theirs on ${here('theirs')} and theirs.customer_id = ${customerId}
      and theirs.id <> ${subscription.id}
    join invoices v on ${here('v')} and v.pricing_plan_subscription_id = theirs.id and v.status = 'FINAL' and not v.advance_only
      and tstzrange(v.period_start, v.period_end) && tstzrange(mine.start_at, mine.end_at)
    join pricing_plan_schedules h on ${here('h')} and h.pricing_plan_subscription_id = theirs.id and h.status = 'ACTIVE'
      and tstzrange(h.start_at, h.end_at) && tstzrange(mine.start_at, mine.end_at)
      and tstzrange(h.start_at, h.end_at) && tstzrange(v.period_start, v.period_end)
    join schedule_versions my_prices on ${here('my_prices')} and my_prices.pricing_plan_schedule_id = mine.id
    join schedule_versions prices on ${here('prices')} and prices.pricing_plan_schedule_id = h.id
    join priced_meters a on ${here('a')} and a.pricing_plan_version_id = my_prices.pricing_plan_version_id
    join priced_meters b on ${here('b')} and b.pricing_plan_version_id = prices.pricing_plan_version_id
      and b.meter_id = a.meter_id
    join meters m on ${here('m')} and m.id = a.meter_id
    where ${here('mine')} and mine.id in ${scheduleIds}
    order by v.period_end desc
    limit 1`)
  const [billed] = rows
  if (!billed) return
  const message =
    `The customer's subscription ${billed.other} has billed the meter ${billed.meter} until ${billed.until} on a FINAL invoice, ` +
    'and an event is billed once. Start at that time or later.'
  throw new AppError('INVALID_OPERATION', message, {
    resourceId: billed.other,
    resourceType: subscriptionResource.objectType,
  })
}
