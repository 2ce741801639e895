// What a schedule states, for another version of a plan: what is of prices moves to those that replace them, and the rest stays.
import type { Uow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import type { Discount } from '../clauses/discount-schema.ts'
import { countsInVersion } from '../counts/carry-counts.ts'
import { clausesWithin, type ScheduleSpan } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { enabledInVersion } from './enabled-in-version.ts'
import { overridesInVersion } from './overrides-in-version.ts'

type To = ScheduleSpan & { readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'> }

/**
 * The members of a schedule that sells the version in the span, with the discounts that are not limited to prices of the old version.
 * Within a plan it keeps the overrides and the enabled ADDONs too. What has ended by then is left out.
 */
export async function termsInVersion(uow: Uow, schedule: Schedule, to: To): Promise<Row> {
  const { discount, commitment } = clausesWithin(schedule, to)
  return {
    pricing_plan_id: to.version.pricing_plan_id,
    pricing_plan_version_id: to.version.id,
    discount: withoutPrices(discount),
    enabled_pricings: await enabledInVersion(uow, schedule, to),
    override_pricings: await overridesInVersion(uow, schedule, to),
    // Markups are of prices, which are those of one version; a minimum of the invoice is there in any.
    markup: null,
    commitment: commitment?.totals ? { totals: commitment.totals } : null,
    ...(await countsInVersion(uow, schedule, to)),
  }
}

/** Prices are those of one version; products and totals are there in any. */
function withoutPrices(discount: Discount | null): Discount | null {
  if (discount === null) return null
  const { pricing_item_configs: _configs, pricing_items: _items, pricings: _pricings, ...kept } = discount
  return kept
}
