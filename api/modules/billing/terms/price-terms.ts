// The terms of a subscription, resolved once: every price in force with everything that belongs to it, and how its time
// is cut. Later steps read terms and look nothing up again.
import type { SeatChange } from '../../../../shared/billing/charging/seats.ts'
import type { Span } from '../../../../shared/billing/periods.ts'
import type { PersistedUsage } from '../../../../shared/billing/persisted-usage.ts'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { at, type Interval } from '../../../../shared/time.ts'
import type { UsageCondition, UsageProperty } from '../../../../shared/usage/condition.ts'
import { type ConditionNames, configConditions, usageConditionOf } from '../../catalog/conditions/config-conditions.ts'
import { conditionNamesOf } from '../../catalog/conditions/load-names.ts'
import { termsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { isMeasured } from '../../catalog/products/schema.ts'
import { defaultTaxCategory } from '../../invoices/document/parties.ts'
import { pausesIn } from '../../subscriptions/ending/inactive-periods.ts'
import type { IncludedSpan } from '../../subscriptions/included-volumes/included-spans.ts'
import type {
  BillingInputs,
  CalculationInput,
  CategoryInput,
  ConfigInput,
  ItemInput,
  PlanInput,
  PricingInput,
  ProductInput,
  ProductItemInput,
  ScheduleInput,
} from './billing-inputs.ts'
import { chargedOnceBefore, persistedOf } from './carried-usage.ts'
import { includedOf } from './included-of.ts'
import { calendarOf, type PriceCalendar } from './price-calendar.ts'
import { byOrder, byText, type SoldPricing, soldPricings } from './sold-pricings.ts'
import { seatChangesOf } from './term-seats.ts'
import { activeSpan, billingZoneOf } from './windows.ts'

/** A calculation of usage, and a condition that filters its events; null for all events of its meter. */
export type FilteredCalculation = { readonly calculation: CalculationInput; readonly condition: UsageCondition | null }

/** A property that a price is split by. */
export type SplitProperty = UsageProperty & { readonly id: string }

/** A price in force: a price configuration with everything that belongs to it. */
export type PriceTerm = {
  readonly subscriptionId: string
  readonly schedule: ScheduleInput
  readonly plan: PlanInput
  readonly pricing: PricingInput
  readonly item: ItemInput
  readonly config: ConfigInput
  readonly productItem: ProductItemInput
  readonly product: ProductInput
  readonly category: CategoryInput | null
  readonly taxCategory: TaxCategory
  /** The currency of the invoice; a price in any other currency cannot be billed. */
  readonly billingCurrency: string
  /** Null for an item that is not metered. */
  readonly calculation: CalculationInput | null
  /** The condition on the usage that the configuration rates; null for all usage of the calculation's meter. */
  readonly condition: UsageCondition | null
  /** What decides the tier, where that is not the rated usage itself. */
  readonly tiering: FilteredCalculation | null
  /** What the line shows besides the usage that it bills; absent where there is nothing. */
  readonly reports?: readonly FilteredCalculation[]
  /** The properties whose values are priced separately; null where usage is priced together. */
  readonly split: readonly SplitProperty[] | null
  /** The other prices of the schedule in the same volume group. */
  readonly group: readonly PriceTerm[]
  /** Persisted usage of the configuration, in order of time: later usage is added to it. */
  readonly persisted: readonly PersistedUsage[]
  /** The seats over time, where the schedule states them or they are assigned; null for one number at all times. */
  readonly seatChanges: readonly SeatChange[] | null
  /** What is included of its usage over time, where the schedule states it; otherwise null. */
  readonly included: readonly IncludedSpan[] | null
  readonly inAdvance: boolean
  /** Null when no time of the schedule is left. */
  readonly calendar: PriceCalendar | null
}

/** A run needs the prices twice: to plan its invoices and to price them. */
const resolved = new WeakMap<BillingInputs, readonly PriceTerm[]>()

/** The prices of the inputs, each once, in the order of the invoice. A TRIAL has none but its own (semantics 4.3). The inputs must not change. */
export function resolveTerms(inputs: BillingInputs): readonly PriceTerm[] {
  const known = resolved.get(inputs)
  if (known) return known
  const found = termsOfInputs(inputs)
  resolved.set(inputs, found)
  return found
}

function termsOfInputs(inputs: BillingInputs): PriceTerm[] {
  const shared = {
    inputs,
    names: conditionNamesOf(inputs.condition_names),
    span: activeSpan(inputs),
    pauses: pausesIn(inputs.subscription.inactive_periods),
    plans: byId(inputs.plans),
    productItems: byId(inputs.product_items),
    products: byId(inputs.products),
    categories: byId(inputs.product_categories),
    calculations: byId(inputs.calculations),
  }
  const zone = billingZoneOf(inputs)
  const charging = inputs.schedules.filter(({ trial }) => trial !== true)
  const sold = new Map(
    charging.map(schedule => [
      schedule.id,
      soldPricings(inputs.pricings, { schedule, zone, terms: termsOf(schedule, inputs.subscription) }),
    ]),
  )
  return charging.flatMap(schedule => {
    const before = chargedOnceBefore(charging, schedule, sold)
    const own = sold.get(schedule.id) ?? []
    return inGroups(own.flatMap(each => termsOfPricing(shared, { schedule, before, ...each })))
  })
}

/** The terms of a schedule, each with the others of its volume group (semantics 3.1). */
function inGroups(terms: readonly PriceTerm[]): PriceTerm[] {
  return terms.map(term => {
    const name = term.config.volume_group_reference
    const inSame = (other: PriceTerm) =>
      other !== term &&
      // Seats and the like have no usage to add, though prices saved before may name a group.
      isMetered(other) &&
      other.config.volume_group_reference === name &&
      other.pricing.pricing_plan_version_id === term.pricing.pricing_plan_version_id
    const group = name && isMetered(term) ? terms.filter(inSame) : []
    return group.length === 0 ? term : { ...term, group }
  })
}

/**
 * The metric of the item that decides the tier, and which of its events the price counts; null when the rated usage
 * itself decides.
 */
function tieringOf(of: Shared, { usage_based, meter_value_calculation_id }: ProductItemInput, config: ConfigInput) {
  const other = usage_based?.tiering_meter_value_calculation_id ?? null
  const conditions = config.tiering_conditions ?? null
  const id = other ?? meter_value_calculation_id
  if ((other === null && conditions === null) || id === null) return null
  const condition = conditions && usageConditionOf({ ...conditions, meter_properties: [] }, of.names)
  return { calculation: of.calculations(id), condition }
}

/** Other calculations of the same usage; the conditions of a price hold for its own meter only. */
function reportsOf(
  of: Shared,
  { usage_based, meter_value_calculation_id: billed }: ProductItemInput,
  condition: UsageCondition | null,
): Pick<PriceTerm, 'reports'> {
  const ids = usage_based?.report_meter_value_calculation_ids ?? []
  if (ids.length === 0 || billed === null) return {}
  const { meter_reference: meter } = of.calculations(billed)
  return {
    reports: ids.map(of.calculations).map(calculation => ({
      calculation,
      condition: calculation.meter_reference === meter ? condition : null,
    })),
  }
}

const splitOf = ({ names }: Shared, { split_pricing: split }: ConfigInput): SplitProperty[] | null =>
  split
    ? split.meter_properties.map(({ id }) => {
        const property = names.properties.get(id)
        if (!property) throw new Error(`the inputs lack the property ${id}`)
        return { id, ...property }
      })
    : null

type Find<T> = (id: string) => T
type Shared = {
  readonly inputs: BillingInputs
  readonly names: ConditionNames
  readonly span: Span | null
  readonly pauses: readonly Interval[]
  readonly plans: Find<PlanInput>
  readonly productItems: Find<ProductItemInput>
  readonly products: Find<ProductInput>
  readonly categories: Find<CategoryInput>
  readonly calculations: Find<CalculationInput>
}

function byId<T extends { readonly id: string }>(list: readonly T[]): Find<T> {
  const known = new Map(list.map(entry => [entry.id, entry]))
  return id => {
    const found = known.get(id)
    if (!found) throw new Error(`the inputs lack ${id}`)
    return found
  }
}

/** A schedule, and the product items that what it continues has charged once. */
type Continuing = { readonly schedule: ScheduleInput; readonly before: ReadonlySet<string> }

function termsOfPricing(
  of: Shared,
  { schedule, pricing, during, takesOver, before }: SoldPricing & Continuing,
): PriceTerm[] {
  const { inputs } = of
  const plan = of.plans(schedule.pricing_plan_id)
  const terms = pricing.items.flatMap(item =>
    item.product_item_ids.flatMap(id => {
      const productItem = of.productItems(id)
      const product = of.products(productItem.product_id)
      const category = product.category_id === null ? null : of.categories(product.category_id)
      const calculationId = productItem.meter_value_calculation_id
      const conditions = configConditions(productItem.usage_based?.conditions ?? null, item.configs, of.names)
      const isPaid = takesOver || (before.has(id) && during.start === at(schedule.start_at))
      const isCharged = (config: ConfigInput) => !isPaid || !isOneOff({ productItem }) || isOnDemand({ config })
      return item.configs
        .filter(isCharged)
        .map(config => includedOf(schedule, config, during))
        .map(
          ({ config, included }): PriceTerm => ({
            subscriptionId: inputs.subscription.id,
            // Prices of a fallback are converted from their own currency; clauses stay in that of the schedule.
            schedule: item.fallback_currency ? { ...schedule, pricing_currency: item.fallback_currency } : schedule,
            plan,
            pricing,
            item,
            config,
            productItem,
            product,
            category,
            taxCategory: taxCategoryOf(inputs, { productItem, product, category }),
            billingCurrency: inputs.subscription.billing_currency,
            calculation: calculationId === null ? null : of.calculations(calculationId),
            condition: conditions.get(config.id) ?? null,
            tiering: tieringOf(of, productItem, config),
            ...reportsOf(of, productItem, conditions.get(config.id) ?? null),
            split: splitOf(of, config),
            group: [],
            persisted: persistedOf(inputs, { schedule, pricing, item, productItem, config }),
            included,
            seatChanges: seatChangesOf(inputs, { schedule, productItem, config }),
            inAdvance: config.billing_in_advance === true || productItem.model_type === 'ONE_OFF',
            calendar: calendarOf(of, { schedule, pricing, config, during }),
          }),
        )
    }),
  )
  return terms.toSorted(
    (a, b) =>
      (a.category?.display_order ?? LAST) - (b.category?.display_order ?? LAST) ||
      byText(a.category?.id ?? '', b.category?.id ?? '') ||
      byOrder(a.item, b.item) ||
      byOrder(a.productItem, b.productItem) ||
      // Prices that are still equal keep the order that the pricing gives them.
      (a.config.order ?? LAST) - (b.config.order ?? LAST),
  )
}

/** Item → product → category → platform → STANDARD (semantics 2). */
const taxCategoryOf = (
  { platform }: BillingInputs,
  { productItem, product, category }: Pick<PriceTerm, 'productItem' | 'product' | 'category'>,
): TaxCategory =>
  productItem.tax_category ?? product.tax_category ?? category?.tax_category ?? defaultTaxCategory({ platform })

const LAST = Number.MAX_SAFE_INTEGER

export const isMetered = ({ productItem }: Pick<PriceTerm, 'productItem'>): boolean =>
  isMeasured(productItem.model_type)

/** Whether its usage is turned into credits, and costs no money itself. */
export const isConverted = ({ productItem }: Pick<PriceTerm, 'productItem'>): boolean =>
  productItem.model_type === 'USAGE_BASED_CONVERSION'

/** Whether it charges the credits that wallets lack. */
export const isSoldByCredits = ({ productItem }: Pick<PriceTerm, 'productItem'>): boolean =>
  productItem.model_type === 'CREDITS'

/** Whether it is charged once, at the start of its schedule. */
export const isOneOff = ({ productItem }: Pick<PriceTerm, 'productItem'>): boolean =>
  productItem.model_type === 'ONE_OFF'

/** Whether only a charge on demand bills it, and no billing period (semantics 3.3). */
export const isOnDemand = ({ config }: Pick<PriceTerm, 'config'>): boolean => config.on_demand === true

/** Whether the price never charges anything, so that it is on no invoice. */
export const chargesNothing = ({ config }: Pick<PriceTerm, 'config'>): boolean =>
  findPriceModel(config.pricing_type)?.basis === 'nothing'

/** Whether each event is priced on its own. */
export const isRatedPerEvent = ({ config }: Pick<PriceTerm, 'config'>): boolean => config.rate_per === 'EVENT'

/** Whether usage is rated once per pricing period; otherwise the same amount is owed every billing period, scaled. */
export const isRatedPerPricingPeriod = ({ config }: Pick<PriceTerm, 'config'>): boolean =>
  findPriceModel(config.pricing_type)?.perPricingPeriod !== false
