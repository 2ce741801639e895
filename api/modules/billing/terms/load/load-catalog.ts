// Reads what is sold: plans, prices, products and how they are metered, once for any number of subscriptions. Thousands
// of them share a plan, so the catalog of one set of plan versions is built once and is one object for all.
import { and, asc, eq } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { TenantTable } from '../../../../resource/define-resource.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { loadConditionNames, namesIn } from '../../../catalog/conditions/load-names.ts'
import type { Conditions, PropertyCondition } from '../../../catalog/conditions/schema.ts'
import { meterProperties, meters, meterValueCalculations, meterValues } from '../../../catalog/meters/table.ts'
import { isOptional } from '../../../catalog/pricing-plans/checks/optional.ts'
import { pricingPlans, pricings } from '../../../catalog/pricing-plans/table.ts'
import { allConfigs } from '../../../catalog/pricing-plans/variants/variants.ts'
import { productCategories, productItems, products } from '../../../catalog/products/table.ts'
import type {
  BillingInputs,
  CalculationInput,
  CategoryInput,
  ConfigInput,
  PlanInput,
  PricingInput,
  ProductInput,
  ProductItemInput,
  ScheduleInput,
} from '../billing-inputs.ts'

/** What the schedules of a subscription sell. */
export type CatalogInputs = Pick<
  BillingInputs,
  'plans' | 'pricings' | 'product_items' | 'products' | 'product_categories' | 'calculations' | 'condition_names'
>

type Named = Pick<ScheduleInput, 'pricing_plan_id' | 'pricing_plan_version_id' | 'own_version_id' | 'rate_card'>

/** The versions that price a schedule. */
const versionsOf = ({ pricing_plan_version_id, own_version_id: own, rate_card }: Named): readonly string[] => [
  ...(rate_card ? rate_card.map(each => each.pricing_plan_version_id) : [pricing_plan_version_id]),
  ...(own === undefined ? [] : [own]),
]

/**
 * Reads what all of these sell, and returns a function that gives the part of some: the same object for the same plans.
 */
export async function loadCatalog(
  uow: ReadUow,
  all: readonly Named[],
): Promise<(of: readonly Named[]) => CatalogInputs> {
  const plans = await loadPlans(uow, all)
  const prices = await loadPricings(uow, all)
  const sold = await loadProducts(uow, prices)
  const calculations = await loadCalculations(uow, sold.product_items)
  const whole: CatalogInputs = {
    plans,
    pricings: prices,
    ...sold,
    calculations,
    condition_names: await loadConditionNames(uow, conditionsIn(prices, sold.product_items)),
  }
  const known = new Map<string, CatalogInputs>()
  return of => {
    const key = JSON.stringify([
      [...new Set(of.map(each => each.pricing_plan_id))].sort(),
      [...new Set(of.flatMap(versionsOf))].sort(),
    ])
    const found = known.get(key) ?? partOf(whole, of)
    known.set(key, found)
    return found
  }
}

/** The part of it that some schedules sell, in the same order. */
function partOf(whole: CatalogInputs, of: readonly Named[]): CatalogInputs {
  const ids = (list: readonly (string | null)[]) => new Set(list)
  const planIds = ids(of.map(each => each.pricing_plan_id))
  const versionIds = ids(of.flatMap(versionsOf))
  const prices = whole.pricings.filter(each => versionIds.has(each.pricing_plan_version_id))
  const itemIds = ids(prices.flatMap(price => price.items.flatMap(item => item.product_item_ids)))
  const items = whole.product_items.filter(({ id }) => itemIds.has(id))
  const productIds = ids(items.map(item => item.product_id))
  const parents = whole.products.filter(({ id }) => productIds.has(id))
  const categoryIds = ids(parents.map(product => product.category_id))
  const calculationIds = ids(items.flatMap(calculationsOf))
  return {
    plans: whole.plans.filter(({ id }) => planIds.has(id)),
    pricings: prices,
    product_items: items,
    products: parents,
    product_categories: whole.product_categories.filter(({ id }) => categoryIds.has(id)),
    calculations: whole.calculations.filter(({ id }) => calculationIds.has(id)),
    condition_names: namesIn(whole.condition_names, conditionsIn(prices, items)),
  }
}

const conditionsIn = (prices: readonly PricingInput[], items: readonly ProductItemInput[]): Conditions[] => [
  ...items.flatMap(item => item.usage_based?.conditions ?? []),
  ...prices.flatMap(price => price.items.flatMap(item => allConfigs(item).flatMap(conditionsOf))),
]

const conditionsOf = ({ conditions, tiering_conditions: tiering, split_pricing: split }: ConfigInput): Conditions[] => [
  ...(conditions ? [conditions] : []),
  ...(tiering ? [{ ...tiering, meter_properties: [] }] : []),
  // The properties that split a price are read together with those in its conditions.
  ...(split ? [{ name: null, meter_properties: split.meter_properties.map(presenceOf) }] : []),
]

const presenceOf = (property: { id: string; reference: string }): PropertyCondition => ({
  ...property,
  comparator: 'NOT_EMPTY',
  value: null,
  values: null,
  meter_property_variable_id: null,
})

/** What measures an item, what decides its tier, and what its lines show besides. */
const calculationsOf = (item: Pick<ProductItemInput, 'meter_value_calculation_id' | 'usage_based'>): string[] =>
  [
    item.meter_value_calculation_id,
    item.usage_based?.tiering_meter_value_calculation_id,
    ...(item.usage_based?.report_meter_value_calculation_ids ?? []),
  ].filter(id => typeof id === 'string')

const among = (uow: ReadUow, table: TenantTable, ids: readonly string[]) =>
  and(inThisTenant(uow, table), anyOf(table.id, [...new Set(ids)]))

async function loadPlans(uow: ReadUow, of: readonly Named[]): Promise<PlanInput[]> {
  if (of.length === 0) return []
  const p = pricingPlans
  const ids = of.map(schedule => schedule.pricing_plan_id)
  return await uow.tx
    .select({ id: p.id, amount_type: p.amount_type })
    .from(p)
    .where(among(uow, p, ids))
    .orderBy(asc(p.id))
}

async function loadPricings(uow: ReadUow, of: readonly Named[]): Promise<PricingInput[]> {
  if (of.length === 0) return []
  const p = pricings
  const versions = [...new Set(of.flatMap(versionsOf))]
  const rows = await uow.tx
    .select({
      id: p.id,
      product_type: p.product_type,
      pricing_group_id: p.pricing_group_id,
      pricing_plan_version_id: p.pricing_plan_version_id,
      name: p.name,
      display_order: p.display_order,
      items: p.items,
    })
    .from(p)
    .where(and(inThisTenant(uow, p), anyOf(p.pricing_plan_version_id, idsOf('ppve', versions))))
    .orderBy(asc(p.id))
  return rows.map(({ product_type, pricing_group_id, ...row }) =>
    isOptional({ product_type, pricing_group_id }) ? { ...row, addon: true } : row,
  )
}

type Sold = {
  readonly product_items: ProductItemInput[]
  readonly products: ProductInput[]
  readonly product_categories: CategoryInput[]
}

async function loadProducts(uow: ReadUow, of: readonly PricingInput[]): Promise<Sold> {
  const itemIds = of.flatMap(pricing => pricing.items.flatMap(item => item.product_item_ids))
  if (itemIds.length === 0) return { product_items: [], products: [], product_categories: [] }
  const i = productItems
  const rows = await uow.tx
    .select({
      id: i.id,
      product_id: i.product_id,
      reference: i.reference,
      name: i.name,
      type: i.type,
      model_type: i.model_type,
      meter_value_calculation_id: i.meter_value_calculation_id,
      usage_based: i.usage_based,
      tax_category: i.tax_category,
      display_order: i.display_order,
      unit_name: i.unit_name,
      credits: i.credits,
    })
    .from(i)
    .where(among(uow, i, itemIds))
    .orderBy(asc(i.id))
  const items = rows.map(({ credits, ...item }): ProductItemInput => (credits ? { ...item, credits } : item))
  const p = products
  const { id, name, tax_category, display_order, category_id } = p
  const parents = await uow.tx
    .select({ id, name, category_id, tax_category, display_order })
    .from(p)
    .where(
      among(
        uow,
        p,
        items.map(item => item.product_id),
      ),
    )
    .orderBy(asc(p.id))
  return { product_items: items, products: parents, product_categories: await loadCategories(uow, parents) }
}

async function loadCategories(uow: ReadUow, of: readonly ProductInput[]): Promise<CategoryInput[]> {
  const ids = of.map(product => product.category_id).filter(id => id !== null)
  if (ids.length === 0) return []
  const { id, name, tax_category, display_order } = productCategories
  return await uow.tx
    .select({ id, name, tax_category, display_order })
    .from(productCategories)
    .where(among(uow, productCategories, ids))
    .orderBy(asc(id))
}

/** The calculations named by these; those of usage that is turned into credits say which meter value that is. */
export async function loadCalculations(
  uow: ReadUow,
  of: readonly (Pick<ProductItemInput, 'meter_value_calculation_id' | 'usage_based'> & {
    readonly model_type?: string
  })[],
): Promise<CalculationInput[]> {
  const converted = of.flatMap(({ model_type, meter_value_calculation_id: id }) =>
    model_type === 'USAGE_BASED_CONVERSION' && id !== null ? [id] : [],
  )
  const calculations = await calculationsById(uow, of.flatMap(calculationsOf))
  if (converted.length === 0) return calculations
  const c = meterValueCalculations
  const rows = await uow.tx
    .select({ id: c.id, value_id: c.meter_value_id })
    .from(c)
    .where(among(uow, c, converted))
  const values = new Map(rows.map(({ id, value_id }): [string, string | null] => [id, value_id]))
  return calculations.map(each => {
    const value_id = values.get(each.id)
    return value_id ? { ...each, value_id } : each
  })
}

/** The calculations with these ids, by id. */
export async function calculationsById(uow: ReadUow, ids: readonly string[]): Promise<CalculationInput[]> {
  if (ids.length === 0) return []
  const c = meterValueCalculations
  const joined = (table: TenantTable, id: PgColumn) =>
    and(eq(table.platform_id, c.platform_id), eq(table.environment, c.environment), eq(table.id, id))
  return await uow.tx
    .select({
      id: c.id,
      reference: c.reference,
      calculation_type: c.calculation_type,
      persist: c.persist,
      meter_reference: meters.reference,
      value_reference: meterValues.reference,
      value_type: meterValues.type,
      property_reference: meterProperties.reference,
      property_type: meterProperties.type,
    })
    .from(c)
    .innerJoin(meters, joined(meters, c.meter_id))
    .leftJoin(meterValues, joined(meterValues, c.meter_value_id))
    .leftJoin(meterProperties, joined(meterProperties, c.meter_property_id))
    .where(among(uow, c, ids))
    .orderBy(asc(c.id))
}
