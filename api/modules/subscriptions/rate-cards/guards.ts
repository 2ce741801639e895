// New prices come by a version of the rate card, and what was priced stays as it was: a version does not come into force in the past of
// a schedule, and one that has priced a schedule stays ACTIVE (semantics 3.1).
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { afterSave, beforeSave } from '../../../resource/rules.ts'
import { groupsOf, needsSelection } from '../../catalog/pricing-groups/load-groups.ts'
import { requireSameCadence } from '../../catalog/pricing-plans/checks/check-cadence.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import { wakeBillingOfPlan } from '../billing-time/next-billing.ts'
import { requireSeller } from '../enabled-pricings/require-seller.ts'
import { requirePrices } from '../schedules/schedule-version.ts'
import { type RateCardChange, rateCardChange } from './priced-schedules.ts'

async function keepWhatWasPriced(
  uow: Uow,
  row: PricingPlanVersion,
  previous: PricingPlanVersion | null,
): Promise<void> {
  const change = await rateCardChange(uow, row, previous)
  if (!change) return
  const { priced } = change
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
async function requireCadenceOfOwn(uow: Uow, row: PricingPlanVersion, priced: RateCardChange['priced']): Promise<void> {
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
