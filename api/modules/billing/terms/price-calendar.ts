// How the time of a price is cut: when it is sold, and the periods in which it is billed and priced.
import type { PeriodGrid, PeriodLength, Span } from '../../../../shared/billing/periods.ts'
import { at, type Instant, type Interval, instantOf } from '../../../../shared/time.ts'
import { cadenceOf } from '../../catalog/pricing-plans/variants/cadence.ts'
import { termsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import type {
  BillingInputs,
  ConfigInput,
  ItemInput,
  PricingInput,
  ProductItemInput,
  ScheduleInput,
} from './billing-inputs.ts'
import { countedSchedules, isOwnPrice } from './carried-usage.ts'
import type { SoldPricing } from './sold-pricings.ts'
import { calendarAt } from './windows.ts'

/** How the time of a price is cut. */
export type PriceCalendar = {
  /** The time in which the schedule sells the price, within the time in which the subscription is active. */
  readonly span: Span
  /** The start of the schedule, or of the first schedule that it continues: calculations with `persist` count from then on. */
  readonly since: Instant
  readonly billingPeriod: PeriodLength
  readonly pricingPeriod: PeriodLength
  readonly billingGrid: PeriodGrid
  readonly pricingGrid: PeriodGrid
  /** When the subscription is paused. */
  readonly pauses: readonly Interval[]
}

/** What is the same for every price of the subscription. */
type Subscribed = {
  readonly inputs: BillingInputs
  /** The time in which it is active; null for none. */
  readonly span: Span | null
  readonly pauses: readonly Interval[]
  readonly productItems: (id: string) => ProductItemInput
}

type Sold = Pick<SoldPricing, 'during'> & {
  readonly schedule: ScheduleInput
  readonly pricing: PricingInput
  readonly config: ConfigInput
}

/** The item that sells credits of a type with a price of this version: of the version itself, else of one that the schedule sells beside it. */
function sellerOf(
  { inputs, productItems }: Subscribed,
  { schedule, pricing: { pricing_plan_version_id: versionId } }: Sold,
  creditTypeId: string,
): ItemInput | undefined {
  const isSelling = (item: ItemInput): boolean =>
    item.product_item_ids.some(id => productItems(id).credits?.credit_type_id === creditTypeId)
  const itemsOf = (version: string): readonly ItemInput[] =>
    inputs.pricings.filter(each => each.pricing_plan_version_id === version).flatMap(({ items }) => items)
  return [versionId, ...versionsBeside(schedule, versionId)].flatMap(itemsOf).find(isSelling)
}

/** The versions that the schedule sells together with this one: its plan beside its own prices, and these beside its plan. */
function versionsBeside(schedule: ScheduleInput, versionId: string): readonly string[] {
  const { own_version_id: own, pricing_plan_version_id, rate_card: card } = schedule
  if (own === undefined || own === pricing_plan_version_id) return []
  if (versionId !== own) return [own]
  return card ? card.map(each => each.pricing_plan_version_id) : [pricing_plan_version_id]
}

/** Null when the schedule sells the price in no time in which the subscription is active. */
export function calendarOf(of: Subscribed, sold: Sold): PriceCalendar | null {
  const { inputs, span, pauses } = of
  const { schedule, pricing, during } = sold
  if (!span) return null
  const left = clip(during, span)
  if (!left) return null
  const config = cadenceOf(sold.config, {
    terms: termsOf(schedule, inputs.subscription),
    sellerOf: creditTypeId => sellerOf(of, sold, creditTypeId),
  })
  const billingPeriod = config.billing_period ?? schedule.billing_period ?? inputs.subscription.billing_period
  const pricingPeriod = config.pricing_period ?? billingPeriod
  const { gridOf } = calendarAt(inputs, span, left.start)
  const [first] = countedSchedules(inputs.schedules, schedule, isOwnPrice(schedule, pricing))
  return {
    span: left,
    since: instantOf(Math.max(at(first.start_at), span.start)),
    billingPeriod,
    pricingPeriod,
    billingGrid: gridOf(billingPeriod),
    pricingGrid: gridOf(pricingPeriod),
    pauses,
  }
}

function clip(own: Span, within: Span): Span | null {
  const start = instantOf(Math.max(own.start, within.start))
  const ends = [own.end, within.end].filter(end => end !== null)
  const end = ends.length === 0 ? null : instantOf(Math.min(...ends))
  return end !== null && end <= start ? null : { start, end }
}
