// What a schedule states, for another version of a plan: what is of prices moves to those that replace them, and the rest stays.
import type { Uow } from '../../../../shared/database/database.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { PricingPlanVersion } from '../../catalog/pricing-plans/table.ts'
import type { Discount } from '../clauses/discount-schema.ts'
import type { Commitment, Markup } from '../clauses/schema.ts'
import { countsInVersion } from '../counts/carry-counts.ts'
import { carriedOwnVersion, idsOfPrices } from '../own-prices/carried-own-prices.ts'
import { clausesWithin, type ScheduleSpan } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { enabledInVersion } from './enabled-in-version.ts'
import { overridesInVersion } from './overrides-in-version.ts'

type To = ScheduleSpan & { readonly version: Pick<PricingPlanVersion, 'id' | 'pricing_plan_id'> }

/**
 * The members of a schedule that sells the version in the span, with the discounts that are not limited to prices of the old version.
 * Within a plan it keeps the overrides, the enabled ADDONs and its own prices too, with what it states of those. What has ended by then is
 * left out.
 */
export async function termsInVersion(uow: Uow, schedule: Schedule, to: To): Promise<Row> {
  const { discount, markup, commitment } = clausesWithin(schedule, to)
  const own_pricing_plan_version_id = carriedOwnVersion(schedule, to.version)
  const own = await idsOfPrices(uow, own_pricing_plan_version_id)
  return {
    pricing_plan_id: to.version.pricing_plan_id,
    pricing_plan_version_id: to.version.id,
    own_pricing_plan_version_id,
    discount: discount && (kept(discount, own) as Discount),
    enabled_pricings: await enabledInVersion(uow, schedule, to),
    override_pricings: await overridesInVersion(uow, schedule, to),
    // Markups are of prices alone; a minimum of the invoice is there in any version.
    markup: markup && notEmpty(kept(markup, own) as Markup),
    commitment: commitment && notEmpty(kept(commitment, own) as Commitment),
    ...(await countsInVersion(uow, schedule, to)),
  }
}

type Entries = readonly { readonly ids?: readonly string[] }[] | null | undefined

/** Prices are those of one version, but for `own`; products and totals are there in any. */
function kept(clauses: object, own: ReadonlySet<string>): Record<string, Entries> {
  const lists = Object.entries(clauses as Readonly<Record<string, Entries>>).flatMap(([list, entries]) => {
    if (!LISTS_OF_PRICES.has(list)) return [[list, entries] as const]
    const left = (entries ?? []).filter(({ ids = [] }) => ids.length > 0 && ids.every(id => own.has(id)))
    return left.length === 0 ? [] : [[list, left] as const]
  })
  return Object.fromEntries(lists)
}

const LISTS_OF_PRICES: ReadonlySet<string> = new Set(['pricing_item_configs', 'pricing_items', 'pricings'])

const notEmpty = <T extends object>(clauses: T): T | null =>
  Object.values(clauses).some(entries => entries !== null && entries !== undefined) ? clauses : null
