// Schedules that continue others. Across them a calculation with `persist` keeps its usage (semantics 1.1), and a one-off item is charged
// once. Pure.
import type { PersistedUsage } from '../../../../shared/billing/persisted-usage.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { at } from '../../../../shared/time.ts'
import type {
  BillingInputs,
  ConfigInput,
  ItemInput,
  PricingInput,
  ProductItemInput,
  ScheduleInput,
} from './billing-inputs.ts'
import type { SoldPricing } from './sold-pricings.ts'

type Carrying = Pick<
  ScheduleInput,
  'pricing_plan_id' | 'pricing_plan_version_id' | 'own_version_id' | 'start_at' | 'end_at' | 'carries_usage'
>

/**
 * The schedules that this one continues, in order of time, and this one: all of one plan, or all without, each ending where the next one
 * starts. What a price of the schedules' own counts continues also where a copy was given another plan: `isOwn`.
 */
export function countedSchedules<S extends Carrying>(all: readonly S[], schedule: S, isOwn = false): [S, ...S[]] {
  const before = scheduleBefore(all, schedule)
  if (!before || !(planOf(before) === planOf(schedule) || (isOwn && hasOwn(before) && hasOwn(schedule))))
    return [schedule]
  const [first, ...rest] = countedSchedules(all, before, isOwn)
  return [first, ...rest, schedule]
}

const hasOwn = ({ own_version_id }: Carrying): boolean => own_version_id !== undefined

/** Whether the price is one that the schedule has besides its plan, or without one. */
export const isOwnPrice = (
  { own_version_id }: Pick<ScheduleInput, 'own_version_id'>,
  { pricing_plan_version_id }: Pick<PricingInput, 'pricing_plan_version_id'>,
): boolean => own_version_id === pricing_plan_version_id

/** The one that it is a copy or a successor of, of whatever plan. */
const scheduleBefore = <S extends Carrying>(all: readonly S[], schedule: S): S | undefined =>
  schedule.carries_usage ? all.find(({ end_at }) => end_at === schedule.start_at) : undefined

/** Null without a plan: a copy that was given other prices of its own continues the schedule that it is a copy of. */
const planOf = ({ pricing_plan_id, pricing_plan_version_id, own_version_id }: Carrying): string | null =>
  own_version_id === pricing_plan_version_id ? null : pricing_plan_id

/**
 * The product items whose one-off price is already charged: those that the schedule which this one continues sold until its end. Of
 * another plan, that is what both have besides their plan. `charging` has no TRIAL that charges nothing.
 */
export function chargedOnceBefore(
  charging: readonly ScheduleInput[],
  schedule: ScheduleInput,
  sold: ReadonlyMap<string, readonly SoldPricing[]>,
): ReadonlySet<string> {
  const before = scheduleBefore(charging, schedule)
  if (!before) return new Set()
  const isContinued = planOf(before) === planOf(schedule)
  const isOwn = (pricing: PricingInput): boolean =>
    schedule.own_version_id !== undefined && pricing.pricing_plan_version_id === before.own_version_id
  const toItsEnd = (sold.get(before.id) ?? []).filter(
    ({ pricing, during }) =>
      during.end !== null && during.end === at(schedule.start_at) && (isContinued || isOwn(pricing)),
  )
  return new Set(
    toItsEnd.flatMap(({ pricing }) =>
      pricing.items
        .filter(({ configs }) => configs.some(config => config.on_demand !== true && chargesSomething(config)))
        .flatMap(item => item.product_item_ids),
    ),
  )
}

const chargesSomething = ({ pricing_type }: ConfigInput): boolean => findPriceModel(pricing_type)?.basis !== 'nothing'

type Price = {
  readonly schedule: ScheduleInput
  readonly pricing: PricingInput
  readonly item: ItemInput
  readonly productItem: ProductItemInput
  readonly config: ConfigInput
}

/** The states recorded for a price, or for the price of the same item in the schedules that its schedule continues; in order of time. */
export function persistedOf(inputs: BillingInputs, of: Price): PersistedUsage[] {
  if (inputs.persisted_usages.length === 0) return []
  const { schedule, pricing } = of
  const [own, ...others] = countedSchedules(inputs.schedules, schedule, isOwnPrice(schedule, pricing)).toReversed()
  const earlier = new Set(others.map(({ id }) => id))
  return inputs.persisted_usages
    .filter(({ schedule_id, config_id }) =>
      config_id === of.config.id
        ? schedule_id === own?.id || earlier.has(schedule_id)
        : earlier.has(schedule_id) && isReplaced(inputs, config_id, of),
    )
    .map(({ id, start_at, persist_usage }) => ({ id, at: at(start_at), usage: decimal(persist_usage) }))
    .toSorted((a, b) => a.at - b.at)
}

/** Whether both are the only price of the product item in their versions. */
function isReplaced({ pricings }: BillingInputs, configId: string, { item, productItem }: Price): boolean {
  const sold = pricings.flatMap(({ items }) => items).find(({ configs }) => configs.some(({ id }) => id === configId))
  const isOnly = ({ configs }: ItemInput): boolean => configs.length === 1
  return sold !== undefined && isOnly(sold) && isOnly(item) && sold.product_item_ids.includes(productItem.id)
}
