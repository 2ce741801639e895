// What a schedule states, for another version of a plan: what is of prices moves to those that replace them, and the rest stays.
import type { Uow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import type { Discount } from '../clauses/discount-schema.ts'
import { countsInVersion } from '../counts/carry-counts.ts'
import type { Schedule } from '../table.ts'
import { enabledInVersion } from './enabled-in-version.ts'
import { overridesInVersion } from './overrides-in-version.ts'

type To = { readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'>; readonly start: string }

/**
 * The members of a schedule that sells the version from `start` on, with the discounts that are not limited to prices of the old version.
 * Within a plan it keeps the overrides and the enabled ADDONs too.
 */
export async function termsInVersion(uow: Uow, schedule: Schedule, to: To): Promise<Row> {
  return {
    pricing_plan_id: to.version.pricing_plan_id,
    pricing_plan_version_id: to.version.id,
    discount: withoutPrices(schedule.discount),
    enabled_pricings: await enabledInVersion(uow, schedule, to),
    override_pricings: await overridesInVersion(uow, schedule, to),
    // Markups are of prices, which are those of one version; a minimum of the invoice is there in any.
    markup: null,
    commitment: schedule.commitment?.totals ? { totals: schedule.commitment.totals } : null,
    ...(await countsInVersion(uow, schedule, to)),
  }
}

/** Prices are those of one version; products and totals are there in any. */
function withoutPrices(discount: Discount | null): Discount | null {
  if (discount === null) return null
  const { pricing_item_configs: _configs, pricing_items: _items, pricings: _pricings, ...kept } = discount
  return kept
}
