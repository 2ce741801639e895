// The ACTIVE schedules that a version of a rate card comes to price, or ceases to, by a change of its status.
import { and, eq, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadRateCards } from '../../catalog/pricing-plans/rate-card.ts'
import type { PricePeriod } from '../../catalog/pricing-plans/schema.ts'
import { type PricingPlanVersion, pricingPlans } from '../../catalog/pricing-plans/table.ts'
import { schedules, subscriptions } from '../table.ts'

/** The time from which the version comes into force, or would have, and the schedules that it prices then. */
export type RateCardChange = {
  readonly from: string
  readonly priced: Awaited<ReturnType<typeof pricedSchedules>>
}

/**
 * What a change of a version's status means for its rate card; null where the version is of none, or its status does not change. Locks the
 * plan until commit, so that no schedule of it is activated meanwhile.
 */
export async function rateCardChange(
  uow: Uow,
  row: PricingPlanVersion,
  previous: PricingPlanVersion | null,
): Promise<RateCardChange | null> {
  const was = previous?.status === 'ACTIVE'
  if (!row.rate_card || was === (row.status === 'ACTIVE')) return null
  const where = and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, row.pricing_plan_id))
  await uow.tx.select({ id: pricingPlans.id }).from(pricingPlans).where(where).for('no key update')
  const from = row.rate_card.start_at
  const card = (await loadRateCards(uow, [row.pricing_plan_id])).get(row.pricing_plan_id) ?? []
  const until = card.find(({ start_at }) => start_at > from)?.start_at ?? null
  return { from, priced: await pricedSchedules(uow, row, { from, until }) }
}

const pricedSchedules = (
  uow: Uow,
  { pricing_plan_id }: PricingPlanVersion,
  { from, until }: { readonly from: string; readonly until: string | null },
) =>
  uow.tx
    .select({
      id: schedules.id,
      start_at: schedules.start_at,
      pricing_plan_version_id: schedules.pricing_plan_version_id,
      own_pricing_plan_version_id: schedules.own_pricing_plan_version_id,
      pricing_currency: schedules.pricing_currency,
      billing_currency: subscriptions.billing_currency,
      billing_entity_id: subscriptions.billing_entity_id,
      billing_period: sql<PricePeriod>`coalesce(${schedules.billing_period}, ${subscriptions.billing_period})`,
    })
    .from(schedules)
    .innerJoin(
      subscriptions,
      and(inThisTenant(uow, subscriptions), eq(subscriptions.id, schedules.pricing_plan_subscription_id)),
    )
    .where(
      and(
        inThisTenant(uow, schedules),
        eq(schedules.pricing_plan_id, pricing_plan_id),
        eq(schedules.status, 'ACTIVE'),
        sql`tstzrange(${schedules.start_at}, ${schedules.end_at}) && tstzrange(${from}::timestamptz, ${until}::timestamptz)`,
      ),
    )
