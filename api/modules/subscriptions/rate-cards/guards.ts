// New prices come by a version of the rate card, and what was priced stays as it was: a version does not come into force in the past of
// a schedule, and one that has priced a schedule stays ACTIVE (semantics 3.1).
import { and, eq, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { afterSave, beforeSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { groupsOf, needsSelection } from '../../catalog/pricing-groups/load-groups.ts'
import { requireSameCadence } from '../../catalog/pricing-plans/checks/check-cadence.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { loadRateCards } from '../../catalog/pricing-plans/rate-card.ts'
import type { PricePeriod } from '../../catalog/pricing-plans/schema.ts'
import { type PricingPlanVersion, pricingPlans } from '../../catalog/pricing-plans/table.ts'
import { wakeBillingOfPlan } from '../billing-time/next-billing.ts'
import { requireSeller } from '../enabled-pricings/require-seller.ts'
import { requirePrices } from '../schedules/schedule-version.ts'
import { schedules, subscriptions } from '../table.ts'

type Change = { readonly row: PricingPlanVersion; readonly from: string; readonly until: string | null }

/** What comes into force or ceases to be, and when; null where neither happens. */
async function changeOf(
  uow: Uow,
  row: PricingPlanVersion,
  previous: PricingPlanVersion | null,
): Promise<Change | null> {
  const was = previous?.status === 'ACTIVE'
  if (!row.rate_card || was === (row.status === 'ACTIVE')) return null
  // Held: schedules of the plan are activated before this, or see what becomes of the version.
  const where = and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, row.pricing_plan_id))
  await uow.tx.select({ id: pricingPlans.id }).from(pricingPlans).where(where).for('no key update')
  const from = row.rate_card.start_at
  const card = (await loadRateCards(uow, [row.pricing_plan_id])).get(row.pricing_plan_id) ?? []
  return { row, from, until: card.find(({ start_at }) => start_at > from)?.start_at ?? null }
}

/** The ACTIVE schedules of the plan that the version prices, or would. */
const pricedSchedules = (uow: Uow, { row, from, until }: Change) =>
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
        eq(schedules.pricing_plan_id, row.pricing_plan_id),
        eq(schedules.status, 'ACTIVE'),
        sql`tstzrange(${schedules.start_at}, ${schedules.end_at}) && tstzrange(${from}::timestamptz, ${until}::timestamptz)`,
      ),
    )

async function keepWhatWasPriced(
  uow: Uow,
  row: PricingPlanVersion,
  previous: PricingPlanVersion | null,
): Promise<void> {
  const change = await changeOf(uow, row, previous)
  if (!change) return
  const priced = await pricedSchedules(uow, change)
  const [first] = priced
  if (!first) return
  const named = { resourceId: first.id, resourceType: 'PRICING_PLAN_SCHEDULE' }
  if (row.status !== 'ACTIVE') {
    const message = `The schedule ${first.id} is priced by this version of the rate card; add a version that comes into force later instead.`
    throw new AppError('INVALID_OPERATION', message, { field: 'status', ...named })
  }
  if (change.from <= formatInstant(uow.now)) {
    const message = `The schedule ${first.id} is already priced by this rate card, and its past stays as it is; set rate_card.start_at to a time after now.`
    throw new AppError('INVALID_FIELD', message, { field: 'rate_card.start_at', ...named })
  }
  const needed = (await groupsOf(uow, [row.id])).find(needsSelection)
  if (needed) {
    const message = `The schedule ${first.id} is priced by this rate card and enables nothing of the group ${needed.name}, which is ${needed.selection_constraint}; make the group ANY or AT_MOST_ONE.`
    throw new AppError('INVALID_OPERATION', message, { field: 'status', ...named })
  }
  const terms = priced.map(each => ({
    currency: each.pricing_currency,
    billingPeriod: each.billing_period,
    billedIn: each.billing_currency,
  }))
  const different = new Map(terms.map(each => [JSON.stringify(each), each]))
  for (const { billedIn, ...each } of different.values()) await requirePrices(uow, row, each, billedIn)
  for (const soldBy of new Set(priced.map(each => each.billing_entity_id))) await requireSeller(uow, row.id, soldBy)
  await requireCadenceOfOwn(uow, row, priced)
}

/** Prices of the schedules that name credits, and versions that sell them in turn, are of one cadence. */
async function requireCadenceOfOwn(
  uow: Uow,
  row: PricingPlanVersion,
  priced: Awaited<ReturnType<typeof pricedSchedules>>,
): Promise<void> {
  const judged = priced.flatMap(each =>
    each.own_pricing_plan_version_id === null
      ? []
      : {
          ownId: each.own_pricing_plan_version_id,
          otherIds: [each.pricing_plan_version_id, row.id],
          terms: { currency: each.pricing_currency, billingPeriod: each.billing_period },
        },
  )
  for (const each of new Map(judged.map(of => [JSON.stringify(of), of])).values())
    await requireSameCadence(uow, each).catch(error => {
      throw error instanceof AppError ? error.at('status') : error
    })
}

/** Invoices that are not FINAL yet are computed again by the versions that price them now. */
async function billAgain(uow: Uow, row: PricingPlanVersion, previous: PricingPlanVersion | null): Promise<void> {
  if (row.rate_card && row.status !== previous?.status) await wakeBillingOfPlan(uow, row.pricing_plan_id)
}

export const RATE_CARD_GUARDS = [beforeSave(pricingPlanVersionResource, keepWhatWasPriced)] as const
export const RATE_CARD_EFFECTS = [afterSave(pricingPlanVersionResource, billAgain)] as const
